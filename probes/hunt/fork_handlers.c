//~ about: handlers of `fork` that lock, unlock and wake in the child, beside a thread that uses the same objects
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: no-claim
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t of_children = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int generation;
static int n;
static int children;

static void before(void) { pthread_mutex_lock(&m); }
static void after(void) { pthread_mutex_unlock(&m); }
static void in_child(void)
{
    children++;
    generation++;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&of_children);
    n++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&of_children);
}

static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&of_children);
    children++;
    pthread_mutex_unlock(&of_children);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_atfork(before, after, in_child);
    pthread_create(&a, 0, work, 0);
    pid_t p = fork();
    if (p == 0)
        _exit(children > 2);
    waitpid(p, 0, 0);
#ifdef BUG
    n++;
#endif
    pthread_join(a, 0);
    return n > 2;
}
