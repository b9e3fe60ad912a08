//~ about: what a static constructor has opened or mapped is new in every execution
//~ revisions: event pipe shared offset log
//~[event] truth: assertion
//~[event] preemptions: 1
//~[pipe] truth: deadlock
//~[shared] truth: clean
//~[offset] truth: clean
//~[log] truth: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
static int file, ends[2], *shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((constructor)) static void start(void) {
#ifdef EVENT
    file = eventfd(1, EFD_NONBLOCK);
#elif defined(PIPE)
    assert(pipe(ends) == 0);
    assert(write(ends[1], "x", 1) == 1);
#elif defined(SHARED)
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#elif defined(OFFSET)
    file = open("/proc/self/exe", O_RDONLY);
#else
    file = open("start.log", O_CREAT | O_TRUNC | O_RDWR, 0600);
#endif
}
static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
#ifdef EVENT
    eventfd_t value;
    assert(eventfd_read(file, &value) != 0);
#elif defined(PIPE)
    char byte;
    assert(read(ends[0], &byte, 1) == 1);
    assert(write(ends[1], "xy", unused ? 2 : 0) >= 0);
#elif defined(SHARED)
    assert(++*shared <= 2);
#elif defined(OFFSET)
    assert(lseek(file, 0, SEEK_CUR) <= 1);
    char byte;
    assert(read(file, &byte, 1) == 1);
#else
    assert(lseek(file, 0, SEEK_END) <= 1);
    assert(write(file, "x", 1) == 1);
#endif
    pthread_mutex_unlock(&mutex);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)1);
#ifdef EVENT
    eventfd_t value;
    eventfd_read(file, &value);
    b = a;
#else
    pthread_create(&b, NULL, work, NULL);
    pthread_join(b, NULL);
#endif
    pthread_join(a, NULL);
}
