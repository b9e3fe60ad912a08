//~ about: an eventfd that begins with one, or two, as a lock
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int e;
static atomic_int n;
static void *add(void *arg)
{
    uint64_t one = 1;
    read(e, &one, sizeof one);
    int v = n;
    n = v + 1;
    one = 1;
    write(e, &one, sizeof one);
    return arg;
}
int main(void)
{
#ifdef BUG
    e = eventfd(2, EFD_SEMAPHORE);
#else
    e = eventfd(1, EFD_SEMAPHORE);
#endif
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
