//~ about: the test of an in-process loop fails in some schedules, and only what `main` returns after the loop shows it
//~ revisions: sometimes always
//~ truth: exit-status
//~ unless-assumes: loop
//~[always] must-not: exit-0
#include <pthread.h>
#include <racehunter.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int count;
static int failed;
static void reset(void)
{
    count = 0;
}
static void *adds(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}
static void test(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, adds, NULL);
    pthread_create(&b, NULL, adds, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (count != 2)
        failed = 1;
}
int main(void)
{
    racehunter_loop(test, reset);
#ifdef ALWAYS
    return 1;
#else
    return failed;
#endif
}
