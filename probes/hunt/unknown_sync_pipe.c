//~ about: correct in practice: a token circulates in a pipe, and the thread that has it may touch the variable
//~ revisions: default bounded watchpoint free
//~[bounded] options: --analysis context-bound
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
//~ want: no-claim
#include <pthread.h>
#include <unistd.h>
static int p[2], n;
static void *add(void *arg)
{
    char c;
    if (read(p[0], &c, 1) != 1)
        return 0;
    n++;
    write(p[1], &c, 1);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pipe(p);
    write(p[1], "t", 1);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
