//~ about: a thread forks; the child and the parent have memory of their own
//~ revisions: racy ok
//~[racy] truth: race
//~[ok] truth: clean
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *forks(void *arg)
{
    pid_t child = fork();
    if (child == 0) {
        n += 5;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, forks, 0);
#ifdef OK
    pthread_mutex_lock(&m);
#endif
    n++;
#ifdef OK
    pthread_mutex_unlock(&m);
#endif
    pthread_join(a, 0);
    return 0;
}
