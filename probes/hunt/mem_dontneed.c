//~ about: madvise throws a page away that another thread has written
//~ truth: assertion
//~ preemptions: 0
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
static atomic_int *page;
static void *tidy(void *arg)
{
    madvise(page, 4096, MADV_DONTNEED);
    return arg;
}
int main(void)
{
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t a;
    pthread_create(&a, 0, tidy, 0);
    *page = 7;
    pthread_join(a, 0);
    assert(*page == 7);
    return 0;
}
