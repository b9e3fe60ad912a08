//~ about: counted before the work is done
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
static atomic_int done;
static int cell[2];
static void *work(void *arg)
{
    atomic_fetch_add(&done, 1);
    cell[(long)arg] = 1;
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
