//~ about: a thread that was started before main, and is waited for, or not
//~ revisions: bug fixed
//~ command: hunt scan
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int ready;
static pthread_t early;
static void *warm(void *arg)
{
    ready = 1;
    return arg;
}
__attribute__((constructor)) static void begin(void)
{
    pthread_create(&early, 0, warm, 0);
}
int main(void)
{
#ifdef FIXED
    pthread_join(early, 0);
#endif
    ready++;
#ifdef BUG
    pthread_join(early, 0);
#endif
    return 0;
}
