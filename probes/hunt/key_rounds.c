//~ about: destructors of thread-specific data that set it again run in four rounds
//~ revisions: four fifth c11
//~[four] truth: clean
//~[four] want: proved
//~[fifth] truth: assertion
//~[fifth] must-not: exit-0
//~[fifth] want: found
//~[c11] truth: clean
//~[c11] want: proved
#include <assert.h>
#include <pthread.h>
#include <threads.h>
static pthread_key_t first, second;
static int rounds;
static void again(void *value)
{
    rounds++;
#ifdef FIFTH
    assert(rounds < 4);
#endif
    pthread_setspecific(second, value);
}
static void *run(void *arg)
{
    pthread_setspecific(first, &rounds);
    pthread_setspecific(second, &rounds);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_key_create(&first, 0);
#ifdef C11
    tss_create(&second, again);
#else
    pthread_key_create(&second, again);
#endif
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    assert(rounds == 4);
    return 0;
}
