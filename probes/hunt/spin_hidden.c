//~ about: a loop that changes state inside the C library does something else in every round, and does not wait
//~ revisions: tokens numbers reduced
//~[reduced] options: --analysis context-bound --reduction=dynamic
//~ truth: assertion
//~ preemptions: 0
//~ want: found
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static atomic_int stop;
static char text[] = "a,b,c,d,e,f,g,h,i,j";
static void *run(void *arg)
{
    while (!atomic_load(&stop)) {
#ifdef NUMBERS
        assert(rand() % 16 != 0);
#else
        assert(strtok(0, ",") != 0);
#endif
    }
    return arg;
}
static void *end(void *arg)
{
    atomic_store(&stop, 1);
    return arg;
}
int main(void)
{
    pthread_t runner, ender;
    strtok(text, ",");
    pthread_create(&runner, 0, run, 0);
    pthread_create(&ender, 0, end, 0);
    pthread_join(runner, 0);
    pthread_join(ender, 0);
    return 0;
}
