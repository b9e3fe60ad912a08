//~ about: a mapping goes away while another thread uses it
//~ revisions: bug fixed
//~[bug] truth: crash use-after-free race
//~[bug] preemptions: 0
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
static atomic_int *page;
static void *use(void *arg)
{
    atomic_fetch_add(page, 1);
    return arg;
}
int main(void)
{
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t a;
    pthread_create(&a, 0, use, 0);
#ifdef FIXED
    pthread_join(a, 0);
#endif
    munmap(page, 4096);
#ifdef BUG
    pthread_join(a, 0);
#endif
    return 0;
}
