//~ about: after a long start, executions continue from one process; what is in the kernel is not copied with it
//~ revisions: event offset shared
//~ truth: assertion
//~ preemptions: 1
//~ options: --analysis context-bound --bound 1
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
static int file, *shared;
static atomic_int counter, step;
static int first(void) {
#ifdef EVENT
    eventfd_t value;
    return eventfd_read(file, &value) == 0;
#elif defined(OFFSET)
    char byte;
    return read(file, &byte, 1) == 1 && lseek(file, 0, SEEK_CUR) == 1;
#else
    return (*shared)++ == 0;
#endif
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    int seen = step;
    pthread_mutex_lock(&mutex);
    assert(!(first() && seen == 33));
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t a;
#ifdef EVENT
    file = eventfd(1, EFD_NONBLOCK);
#elif defined(OFFSET)
    file = open("/proc/self/exe", O_RDONLY);
#else
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#endif
    for (int i = 0; i < 40000; i++)
        counter++;
    pthread_create(&a, NULL, work, NULL);
    for (int i = 0; i < 60; i++)
        step = i;
    pthread_mutex_lock(&mutex);
    first();
    pthread_mutex_unlock(&mutex);
    pthread_join(a, NULL);
}
