//~ about: swapcontext comes back without the lock
//~ truth: race
#include <pthread.h>
#include <ucontext.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
struct pair { ucontext_t main, co; };
static _Thread_local struct pair *mine;
static void body(void)
{
    pthread_mutex_unlock(&m);
    swapcontext(&mine->co, &mine->main);
}
static void *work(void *arg)
{
    struct pair p;
    static _Thread_local char stack[65536];
    mine = &p;
    getcontext(&p.co);
    p.co.uc_stack.ss_sp = stack;
    p.co.uc_stack.ss_size = sizeof stack;
    p.co.uc_link = 0;
    makecontext(&p.co, body, 0);
    pthread_mutex_lock(&m);
    swapcontext(&p.main, &p.co);
    n++;
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
