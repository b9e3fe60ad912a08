//~ about: an address taken for identity: mmap gives it again after munmap
//~ truth: assertion
//~ unless-assumes: address reuse reused freed
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t page;
static int version;
static uintptr_t map(void)
{
    return (uintptr_t)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void *reader(void *arg)
{
    pthread_mutex_lock(&m);
    uintptr_t p = page;
    int v = version;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    if (p == page)
        assert(v == version);
    pthread_mutex_unlock(&m);
    return arg;
}
static void *remap(void *arg)
{
    pthread_mutex_lock(&m);
    munmap((void *)page, 4096);
    page = map();
    version++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    page = map();
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, remap, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
