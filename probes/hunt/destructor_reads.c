//~ about: a function that runs after main reads what a detached thread still writes
//~ revisions: destructor atexit fixed
//~[destructor] truth: race
//~[atexit] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
static int result;
static void *work(void *arg)
{
    result = 1;
    return arg;
}
static void at_end(void)
{
    volatile int r = result;
    (void)r;
}
#ifdef DESTRUCTOR
__attribute__((destructor)) static void end(void) { at_end(); }
#endif
int main(void)
{
    pthread_t a;
#ifndef DESTRUCTOR
    atexit(at_end);
#endif
    pthread_create(&a, 0, work, 0);
#ifdef FIXED
    pthread_join(a, 0);
#else
    pthread_detach(a);
#endif
    return 0;
}
