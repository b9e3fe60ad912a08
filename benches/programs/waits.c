// A program whose executions mostly wait. Each one ends with a sleep in real time, by a system call of its own: the sleeping
// functions of the C library only advance virtual time. Because workers mostly wait, many of them can share a few processors.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef STEPS
#define STEPS 4
#endif
#ifndef WAIT_MS
#define WAIT_MS 100
#endif

static atomic_int sum;

static void *add(void *unused) {
    for (int i = 0; i < STEPS; i++)
        atomic_fetch_add(&sum, 1);
    return unused;
}

static void sleep_really(void) {
    struct timespec length = {0, WAIT_MS * 1000000L};
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_nanosleep), "D"(&length), "S"(NULL)
                     : "rcx", "r11", "memory");
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    // At the end: executions with a common beginning run that beginning once.
    sleep_really();
    return 0;
}
