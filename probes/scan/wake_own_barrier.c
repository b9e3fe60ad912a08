//~ about: a barrier of a mutex and a condition variable, which forgets the generation
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int count, generation, cell[2];
static void meet(void)
{
    pthread_mutex_lock(&m);
    int mine = generation;
    if (++count == 2) {
        count = 0;
        generation++;
        pthread_cond_broadcast(&c);
    } else {
#ifdef BUG
        pthread_cond_wait(&c, &m);
        (void)mine;
#else
        while (mine == generation)
            pthread_cond_wait(&c, &m);
#endif
    }
    pthread_mutex_unlock(&m);
}
static void *work(void *arg)
{
    long i = (long)arg;
    cell[i] = 1;
    meet();
    cell[1 - i]++;
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
