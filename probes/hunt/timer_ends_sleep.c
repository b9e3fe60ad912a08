//~ about: an alarm without a handler comes while a thread sleeps for longer; one that comes later does not
//~ revisions: early late
//~[early] truth: crash
//~[late] truth: clean
#include <pthread.h>
#include <unistd.h>
static void *work(void *p)
{
    sleep(3);
    return p;
}
int main(void)
{
    pthread_t thread;
#ifdef EARLY
    alarm(1);
#else
    alarm(60);
#endif
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
