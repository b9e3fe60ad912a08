//~ about: lock and data have the same distance in both threads, and the data is longer than the distance to the next
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <string.h>
static struct {
    pthread_mutex_t m[4];
    char d[4 * sizeof(pthread_mutex_t) + 100];
} s;
static void *work(void *arg)
{
    long i = (long)arg;
    pthread_mutex_lock(&s.m[i]);
#ifdef BUG
    memset(s.d + i * sizeof(pthread_mutex_t), 1, sizeof(pthread_mutex_t) + 8);
#else
    memset(s.d + i * sizeof(pthread_mutex_t), 1, sizeof(pthread_mutex_t));
#endif
    pthread_mutex_unlock(&s.m[i]);
    return 0;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_mutex_init(&s.m[i], 0);
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
