//~ about: fork while another thread has the lock: in the child it is never released
//~ revisions: bug fixed
//~ options: --timeout 2s
//~[bug] truth: deadlock
//~[bug] want: no-claim
//~[fixed] truth: clean
//~[fixed] want: no-claim
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void before(void) { pthread_mutex_lock(&m); }
static void after(void) { pthread_mutex_unlock(&m); }
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
#ifdef FIXED
    pthread_atfork(before, after, after);
#endif
    pthread_create(&a, 0, work, 0);
    pid_t p = fork();
    if (p == 0) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        _exit(0);
    }
    waitpid(p, 0, 0);
    pthread_join(a, 0);
    return 0;
}
