//~ about: a thread that may be cancelled in its section, and a handler that touches what the lock protects
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void undo(void *arg)
{
#ifdef BUG
    pthread_mutex_unlock(&m);
    n--;
#else
    n--;
    pthread_mutex_unlock(&m);
#endif
}
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_cleanup_push(undo, 0);
    pause();
    pthread_cleanup_pop(1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_cancel(a);
    pthread_mutex_lock(&m);
    n = 9;
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    return 0;
}
