//~ about: two threads free the same block, unless it was taken before
//~ revisions: twice taken
//~[twice] truth: double-free use-after-free race
//~[taken] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(void *) block;
static void *release(void *arg)
{
#ifdef TWICE
    void *mine = block;
    if (mine) {
        block = 0;
        free(mine);
    }
#else
    free(atomic_exchange(&block, 0));
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    block = malloc(16);
    pthread_create(&a, 0, release, 0);
    pthread_create(&b, 0, release, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
