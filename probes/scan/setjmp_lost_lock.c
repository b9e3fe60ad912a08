//~ about: setjmp with the lock held returns a second time, when the lock is gone
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <setjmp.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *arg)
{
    jmp_buf b;
    pthread_mutex_lock(&m);
    if (setjmp(b) == 0) {
#ifdef BUG
        pthread_mutex_unlock(&m);
#endif
        longjmp(b, 1);
    }
    n++;
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
