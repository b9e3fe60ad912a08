//~ about: a handler that calls what it may have interrupted: malloc and printf hold locks of the C library
//~ revisions: allocates prints blocks counts raised waits
//~[allocates] truth: deadlock crash
//~[allocates] want: no-claim
//~[prints] truth: deadlock crash
//~[prints] want: no-claim
//~[blocks] truth: clean
//~[counts] truth: clean
//~[raised] truth: clean
//~[waits] truth: clean
//~ want: proved
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_t main_thread;
static volatile sig_atomic_t seen;
static void handle(int number)
{
    (void)number;
#if defined PRINTS
    printf("handler\n");
#elif defined COUNTS
    seen++;
#else
    free(malloc(100));
#endif
    seen = 1;
}
static void *send(void *arg)
{
#ifndef RAISED
    pthread_kill(main_thread, SIGUSR1);
#endif
    return arg;
}
int main(void)
{
    sigset_t set, old;
    pthread_t thread;
    main_thread = pthread_self();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, handle);
#if defined BLOCKS || defined WAITS
    pthread_sigmask(SIG_BLOCK, &set, &old);
#endif
    pthread_create(&thread, NULL, send, NULL);
#if defined PRINTS
    printf("main\n");
#else
    free(malloc(100));
#endif
#ifdef RAISED
    raise(SIGUSR1);
#endif
#ifdef WAITS
    while (!seen)
        sigsuspend(&old);
#endif
#ifdef BLOCKS
    pthread_sigmask(SIG_SETMASK, &old, NULL);
#endif
    pthread_join(thread, NULL);
    return 0;
}
