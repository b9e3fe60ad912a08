//~ about: all ways to get memory, in two threads
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *arg)
{
    void *p[8] = {malloc(10), calloc(3, 10), aligned_alloc(64, 128), memalign(128, 50), valloc(100), strdup("text"),
                  reallocarray(0, 5, 20), 0};
    assert(posix_memalign(&p[7], 256, 300) == 0);
    for (int i = 0; i < 8; i++) {
        size_t n = malloc_usable_size(p[i]);
        assert(p[i] && n > 0);
        memset(p[i], i, n);
    }
    p[0] = realloc(p[0], 100000);
    for (int i = 0; i < 8; i++)
        free(p[i]);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
