//~ about: main leaves by pthread_exit while a thread uses its local variable
//~ truth: use-after-free race crash
#include <pthread.h>
static void *use(void *p)
{
    *(int *)p = 1;
    return 0;
}
int main(void)
{
    int local = 0;
    pthread_t a;
    pthread_create(&a, 0, use, &local);
    pthread_detach(a);
    pthread_exit(0);
}
