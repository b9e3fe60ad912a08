//~ about: a thread is cancelled while it has a lock, with and without a handler that gives it back
//~ revisions: bug fixed
//~[bug] truth: deadlock misuse
//~[fixed] truth: clean
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void release(void *p) { pthread_mutex_unlock(p); }
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
#ifdef FIXED
    pthread_cleanup_push(release, &m);
#endif
    n++;
    pthread_testcancel();
#ifdef FIXED
    pthread_cleanup_pop(0);
#endif
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_cancel(a);
    pthread_join(a, 0);
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}
