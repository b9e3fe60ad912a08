//~ about: with kernel threads, names of threads are points too, and locals of functions that have returned are noticed
//~ revisions: name named local locals
//~[name] options: --analysis context-bound --backend threads
//~[named] options: --analysis context-bound
//~[local] options: --analysis context-bound --backend threads
//~[locals] options: --analysis context-bound
//~[name] truth: assertion
//~[named] truth: assertion
//~[name] preemptions: 1
//~[named] preemptions: 1
//~[name] want: found
//~[named] want: found
//~[local] truth: any
//~[locals] truth: any
//~[local] must-not: proved
//~[locals] must-not: proved
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
static pthread_t starter;
#if defined NAME || defined NAMED
static void *rename_it(void *arg)
{
    pthread_setname_np(starter, "renamed");
    return arg;
}
static void *look_twice(void *arg)
{
    char first[16], second[16];
    pthread_getname_np(starter, first, sizeof first);
    pthread_getname_np(starter, second, sizeof second);
    assert(strcmp(first, second) == 0);
    return arg;
}
int main(void)
{
    pthread_t one, two;
    starter = pthread_self();
    pthread_create(&one, 0, look_twice, 0);
    pthread_create(&two, 0, rename_it, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
#else
static void *add(void *arg)
{
    ++*(int *)arg;
    return 0;
}
static void start(void)
{
    int local = 0;
    pthread_create(&starter, 0, add, &local);
}
int main(void)
{
    start();
    pthread_join(starter, 0);
    return 0;
}
#endif
