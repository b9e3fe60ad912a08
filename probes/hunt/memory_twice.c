//~ about: memory that is remapped with an old length of 0 has two addresses
//~ truth: race
//~ must-not: proved
//~ want: no-claim
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
static int *first, *second;
static void *write_first(void *arg)
{
    *first = 1;
    return arg;
}
static void *write_second(void *arg)
{
    *second = 2;
    return arg;
}
int main(void)
{
    pthread_t one, two;
    first = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    second = mremap(first, 0, 4096, MREMAP_MAYMOVE);
    if (second == MAP_FAILED)
        return 0;
    pthread_create(&one, 0, write_first, 0);
    pthread_create(&two, 0, write_second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
