//~ about: a thread of the first round is still running in the second round
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int seen[2];
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    seen[(long)arg] = n;
    return arg;
}
int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        pthread_create(&t[i], 0, work, (void *)i);
        n++;
        pthread_mutex_unlock(&m);
#ifndef BUG
        pthread_join(t[i], 0);
#endif
    }
#ifdef BUG
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
#endif
    return 0;
}
