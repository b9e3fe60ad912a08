//~ about: a loop by computed goto
//~ truth: race
#include <pthread.h>
static int n;
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    static void *const code[] = {&&create, &&create, &&end};
    pthread_t t;
    int pc = 0;
    goto *code[pc];
create:
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    goto *code[++pc];
end:
    pthread_exit(0);
}
