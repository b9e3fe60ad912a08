//~ about: an allocator of its own, called malloc, that gives the same block each time
//~ truth: race
#include <pthread.h>
#include <stddef.h>
static _Alignas(16) char block[4096];
static _Alignas(16) char early[1 << 16];
static size_t used;
static _Thread_local int in_thread;
void *malloc(size_t n)
{
    if (in_thread)
        return block;
    void *p = early + used;
    used += (n + 15) & ~(size_t)15;
    return p;
}
void free(void *p) { }
static void *work(void *arg)
{
    in_thread = 1;
    int *p = malloc(sizeof *p);
    *p = 1;
    in_thread = 0;
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
