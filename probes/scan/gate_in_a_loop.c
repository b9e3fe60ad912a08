//~ about: every thread is joined before the next round begins
//~ revisions: inside outside
//~[inside] truth: clean
//~[outside] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    n++;
    return arg;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        pthread_create(&t[i], 0, work, 0);
#ifdef INSIDE
        n++;
#endif
        pthread_mutex_unlock(&m);
        pthread_join(t[i], 0);
    }
    return 0;
}
