//~ about: a mapping goes away while another thread uses it
//~ revisions: bug fixed large large_fixed
//~[bug] truth: crash use-after-free race
//~[bug] preemptions: 0
//~[fixed] truth: clean
//~[large] truth: crash use-after-free race
//~[large] want: found
//~[large] preemptions: 0
//~[large_fixed] truth: clean
//~[large_fixed] want: proved
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#if defined LARGE || defined LARGE_FIXED
#define SIZE (16 << 20)
#else
#define SIZE 4096
#endif
static atomic_int *page;
static void *use(void *arg)
{
    atomic_fetch_add(page + SIZE / sizeof *page / 2, 1);
    return arg;
}
int main(void)
{
    page = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t a;
    pthread_create(&a, 0, use, 0);
#if defined FIXED || defined LARGE_FIXED
    pthread_join(a, 0);
#endif
    munmap(page, SIZE);
#if defined BUG || defined LARGE
    pthread_join(a, 0);
#endif
    return 0;
}
