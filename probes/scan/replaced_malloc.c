//~ about: functions of the C library call the `malloc` that the program replaces
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int count;
static _Alignas(16) char memory[1 << 16];
static size_t used;

void *malloc(size_t size)
{
    count++;
    size_t at = __atomic_fetch_add(&used, (size + 15) & ~(size_t)15, __ATOMIC_SEQ_CST);
    return at + size < sizeof memory ? memory + at : NULL;
}

void free(void *block)
{
    (void)block;
}

static void *work(void *unused)
{
    free(strdup("text"));
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL))
        return 1;
    work(NULL);
    pthread_join(thread, NULL);
    return 0;
}
