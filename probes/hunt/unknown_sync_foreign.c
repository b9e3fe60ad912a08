//~ about: correct: a lock in code without instrumentation protects a variable of ours
//~ revisions: default bounded watchpoint free
//~[bounded] options: --analysis context-bound
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
//~ want: no-claim
//~ with: foreign/spin.c gcc-object
#include <pthread.h>
void foreign_lock(void);
void foreign_unlock(void);
static int n;
static void *add(void *arg)
{
    foreign_lock();
    n++;
    foreign_unlock();
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
