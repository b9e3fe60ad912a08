//~ about: more timers than the runtime has room for: that is a limit of the command, not a failure of the program
//~ revisions: some most
//~ truth: clean
//~[some] want: proved
//~[most] must-not: proved
#include <pthread.h>
#include <signal.h>
#include <time.h>
static void *work(void *arg)
{
    return arg;
}
int main(void)
{
    pthread_t thread;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
#ifdef MOST
    enum { COUNT = 1100 };
#else
    enum { COUNT = 200 };
#endif
    for (int number = 0; number < COUNT; number++)
        if (timer_create(CLOCK_MONOTONIC, &event, &timer))
            return 1;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
