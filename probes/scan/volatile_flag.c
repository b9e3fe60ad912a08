//~ about: a volatile flag is no synchronisation; an atomic one is
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#ifdef BUG
static volatile int ready;
#else
static atomic_int ready;
#endif
static int data;
static void *one(void *arg) { data = 1; ready = 1; return arg; }
static void *two(void *arg)
{
    while (!ready)
        ;
    volatile int d = data;
    (void)d;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
