//~ about: one thread counts itself twice
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_int done;
static int cell[2];
static void finish(void) { atomic_fetch_add(&done, 1); }
static void *work(void *arg)
{
#ifdef BUG
    finish();
#endif
    cell[(long)arg] = 1;
    finish();
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    while (atomic_load(&done) < 2)
        ;
    cell[0] = cell[1] = 2;
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
