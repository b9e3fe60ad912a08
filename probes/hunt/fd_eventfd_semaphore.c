//~ about: an event counter as a semaphore: it lets one thread in for each unit
//~ revisions: one two
//~[one] truth: clean
//~[two] truth: race
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int fd, n;
static void *work(void *arg)
{
    uint64_t unit;
    read(fd, &unit, sizeof unit);
    n++;
    unit = 1;
    write(fd, &unit, sizeof unit);
    return arg;
}
int main(void)
{
    pthread_t a, b;
#ifdef ONE
    fd = eventfd(1, EFD_SEMAPHORE);
#else
    fd = eventfd(2, EFD_SEMAPHORE);
#endif
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
