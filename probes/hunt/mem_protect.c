//~ about: a page becomes read-only while another thread writes to it
//~ revisions: racy ok
//~[racy] truth: crash
//~[ok] truth: clean
#include <pthread.h>
#include <sys/mman.h>
static int *page;
static void *protect(void *arg)
{
    mprotect(page, 4096, PROT_READ);
    return arg;
}
int main(void)
{
    pthread_t a;
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef OK
    *page = 1;
#endif
    pthread_create(&a, 0, protect, 0);
#ifdef RACY
    *page = 1;
#endif
    pthread_join(a, 0);
    return 0;
}
