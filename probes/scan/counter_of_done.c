//~ about: the last of three threads uses what all have written; the number is one too small
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_int done;
static int cell[3];
static void *work(void *arg)
{
    cell[(long)arg] = 1;
#ifdef BUG
    if (atomic_fetch_add(&done, 1) == 1) {
#else
    if (atomic_fetch_add(&done, 1) == 2) {
#endif
        int s = 0;
        for (int i = 0; i < 3; i++)
            s += cell[i];
        cell[0] = s;
    }
    return 0;
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
