//~ about: the lock of an element, the data of the next one, around the end
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static struct cell { pthread_mutex_t m; int x; } c[3];
static void *work(void *arg)
{
    long i = (long)arg;
    struct cell *p = &c[i];
    pthread_mutex_lock(&p->m);
    p->x++;
#ifdef BUG
    c[(i + 1) % 3].x++;
#endif
    pthread_mutex_unlock(&p->m);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_mutex_init(&c[i].m, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
