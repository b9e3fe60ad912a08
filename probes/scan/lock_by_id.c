//~ about: each thread takes the lock with its own number
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int total, own[4];
static void *work(void *arg)
{
    long id = (long)arg;
    pthread_mutex_lock(&locks[id]);
#ifdef BUG
    total++;
#else
    own[id]++;
#endif
    pthread_mutex_unlock(&locks[id]);
    return 0;
}
int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
