//~ about: a handler uses a block that the interrupted thread is about to replace
//~ revisions: freed kept
//~[freed] truth: use-after-free crash
//~[kept] truth: clean
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static int *volatile block;
static volatile int seen;
static void handler(int signal)
{
    (void)signal;
    seen = *block;
}
static void *sends(void *to)
{
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    return 0;
}
int main(void)
{
    pthread_t self = pthread_self(), t;
    block = calloc(1, sizeof *block);
    signal(SIGUSR1, handler);
    pthread_create(&t, 0, sends, &self);
    int *fresh = calloc(1, sizeof *fresh), *old = block;
#ifdef FREED
    free(old);
    block = fresh;
#else
    block = fresh;
    free(old);
#endif
    pthread_join(t, 0);
    return 0;
}
