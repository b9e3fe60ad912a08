//~ about: correct: three threads and a lock that spins; a held thread does not keep the others from ending
//~ revisions: watchpoint bounded sampling free
//~[watchpoint] options: --analysis watchpoint
//~[bounded] options: --analysis watchpoint-bound
//~[sampling] options: --analysis sampling
//~[free] options: --free-running
//~ truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_flag lk = ATOMIC_FLAG_INIT;
static int n;
static void *add(void *arg)
{
    while (atomic_flag_test_and_set(&lk))
        ;
    n++;
    atomic_flag_clear(&lk);
    return arg;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return n != 3;
}
