//~ about: a mapping is moved while another thread uses its old address
//~ revisions: racy ok
//~[racy] truth: crash race use-after-free
//~[ok] truth: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
static int *volatile page;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *move(void *arg)
{
    pthread_mutex_lock(&m);
    void *to = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page = mremap(page, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&a, 0, move, 0);
    pthread_mutex_lock(&m);
    int *mine = page;
#ifdef RACY
    pthread_mutex_unlock(&m);
    *mine = 1;
#else
    *mine = 1;
    pthread_mutex_unlock(&m);
#endif
    pthread_join(a, 0);
    return 0;
}
