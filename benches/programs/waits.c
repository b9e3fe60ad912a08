// A program whose executions mostly wait: at the end of each, it sleeps in real time, by the instruction itself. The C library's
// functions would sleep in virtual time. So many workers fit on few processors, as if each had a machine of its own.
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
