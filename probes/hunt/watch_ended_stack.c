//~ about: the stack of a thread that is over, in the analyses that want both threads before their accesses
//~ revisions: provoked bounded
//~[provoked] options: --analysis watchpoint
//~[bounded] options: --analysis watchpoint-bound
//~ truth: use-after-free
//~ want: found
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static _Atomic(int *) shared;
static void *publish(void *arg)
{
    int local = 0;
    shared = &local;
    local++;
    return arg;
}
static void *use(void *arg)
{
    int *known = shared;
    if (known)
        *known = 1;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, publish, NULL);
    pthread_join(a, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(b, NULL);
    return 0;
}
