//~ about: a thread creates another one, gives it a local variable, and ends
//~ revisions: leaves joins
//~[leaves] truth: use-after-free race
//~[joins] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_int over;
static void *inner(void *p)
{
    *(int *)p += 1;
    over = 1;
    return 0;
}
static void *outer(void *arg)
{
    int local = 1;
    pthread_t t;
    pthread_create(&t, 0, inner, &local);
#ifdef JOINS
    pthread_join(t, 0);
#else
    pthread_detach(t);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, outer, 0);
    pthread_join(t, 0);
    while (!over)
        ;
    return 0;
}
