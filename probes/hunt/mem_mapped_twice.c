//~ about: the same page at two addresses
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>
static atomic_int *view[2];
static void *add(void *arg)
{
    atomic_int *n = view[(long)arg];
#ifdef BUG
    int v = *n;
    *n = v + 1;
#else
    atomic_fetch_add(n, 1);
#endif
    return 0;
}
int main(void)
{
    int fd = memfd_create("page", 0);
    ftruncate(fd, 4096);
    for (int i = 0; i < 2; i++)
        view[i] = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_t a, b;
    pthread_create(&a, 0, add, (void *)0);
    pthread_create(&b, 0, add, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(*view[0] == 2);
    return 0;
}
