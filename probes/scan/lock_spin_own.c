//~ about: an atomic flag of its own, in a structure that each thread gets, as a spin lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
struct task { atomic_flag busy; int *counter; };
static int n, m;
static void *work(void *arg)
{
    struct task *t = arg;
    while (atomic_flag_test_and_set(&t->busy))
        ;
    ++*t->counter;
    atomic_flag_clear(&t->busy);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    struct task x = {ATOMIC_FLAG_INIT, &n}, y = {ATOMIC_FLAG_INIT, &n};
#ifdef FIXED
    y.counter = &m;
#endif
    pthread_create(&a, 0, work, &x);
    pthread_create(&b, 0, work, &y);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
