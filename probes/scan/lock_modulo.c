//~ about: three threads, two locks by remainder
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int n[2];
static void *work(void *arg)
{
    long id = (long)arg;
    pthread_mutex_lock(&locks[id % 2]);
#ifdef BUG
    n[0]++;
#else
    n[id % 2]++;
#endif
    pthread_mutex_unlock(&locks[id % 2]);
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
