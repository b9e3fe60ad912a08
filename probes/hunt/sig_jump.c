//~ about: siglongjmp leaves a section whose lock is never released
//~ truth: deadlock misuse
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf back;
static int n;
static void handler(int s)
{
    siglongjmp(back, 1);
}
static void *work(void *arg)
{
    if (!sigsetjmp(back, 1)) {
        signal(SIGUSR1, handler);
        pthread_mutex_lock(&m);
        n++;
        pthread_mutex_unlock(&m);
        signal(SIGUSR1, SIG_IGN);
    }
    return arg;
}
int main(void)
{
    pthread_t a;
    signal(SIGUSR1, SIG_IGN);
    pthread_create(&a, 0, work, 0);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}
