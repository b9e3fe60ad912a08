//~ about: memory of a thread that is over, of which the thread has only passed on the address
//~ revisions: local element variable lasting
//~[local] truth: use-after-free
//~[element] truth: use-after-free
//~[variable] truth: use-after-free
//~[lasting] truth: clean
//~ want: found
//~[lasting] want: proved
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static _Atomic(int *) shared;
#ifdef VARIABLE
static __thread int own[100];
#endif
static void *publish(void *arg)
{
#if defined VARIABLE
    shared = &own[50];
#elif defined ELEMENT
    int local[200];
    shared = &local[100];
#elif defined LASTING
    static int lasting;
    shared = &lasting;
#else
    int local;
    shared = &local;
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    pthread_join(thread, NULL);
    *shared = 1;
    return 0;
}
