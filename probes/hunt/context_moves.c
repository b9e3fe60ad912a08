//~ about: a coroutine (ucontext) that one thread begins and another one ends
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <ucontext.h>
static ucontext_t co, caller;
static char stack[65536];
static int steps;
static void body(void)
{
    steps++;
    swapcontext(&co, &caller);
    steps++;
    swapcontext(&co, &caller);
}
static void *resume(void *arg)
{
    swapcontext(&caller, &co);
    return arg;
}
int main(void)
{
    pthread_t a;
    getcontext(&co);
    co.uc_stack.ss_sp = stack;
    co.uc_stack.ss_size = sizeof stack;
    co.uc_link = 0;
    makecontext(&co, body, 0);
    pthread_create(&a, 0, resume, 0);
    pthread_join(a, 0);
    pthread_create(&a, 0, resume, 0);
    pthread_join(a, 0);
    assert(steps == 2);
    return 0;
}
