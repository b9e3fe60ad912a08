//~ about: a key destructor and a signal handler without instrumentation, which were installed before main
//~ revisions: key key_of_main handler unused
//~ with: foreign/installs.c gcc-object
//~[key] truth: race
//~[key_of_main] truth: race
//~[handler] truth: race
//~[unused] truth: clean
//~ want: no-claim
//~[unused] want: proved
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
int shared;
extern pthread_key_t foreign_key;
static void *work(void *arg)
{
#ifdef KEY
    pthread_setspecific(foreign_key, &shared);
#endif
#ifdef HANDLER
    raise(SIGUSR1);
#endif
#ifdef KEY_OF_MAIN
    shared++;
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifdef KEY_OF_MAIN
    pthread_setspecific(foreign_key, &shared);
    pthread_exit(NULL);
#else
#ifndef UNUSED
    shared++;
#endif
    pthread_join(thread, NULL);
    return 0;
#endif
}
