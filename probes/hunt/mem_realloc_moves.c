//~ about: a block grows while another thread uses it
//~ revisions: racy ok
//~[racy] truth: use-after-free race
//~[ok] truth: clean
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *block;
static void *grow(void *arg)
{
    pthread_mutex_lock(&m);
    block = realloc(block, 4000);
    block[999] = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    block = calloc(4, sizeof *block);
    pthread_create(&a, 0, grow, 0);
#ifdef RACY
    int *mine;
    pthread_mutex_lock(&m);
    mine = block;
    pthread_mutex_unlock(&m);
    mine[0] = 1;
#else
    pthread_mutex_lock(&m);
    block[0] = 1;
    pthread_mutex_unlock(&m);
#endif
    pthread_join(a, 0);
    free(block);
    return 0;
}
