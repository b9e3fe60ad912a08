// The reader of a value leaves by longjmp when the value is not valid, and takes the lock with it. The value is not
// valid only while the writer is at work.
//
// preemptions: 1
//
// The twin is right because the reader unlocks before it leaves.

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int value = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void check(jmp_buf failure) {
    pthread_mutex_lock(&lock); //~ also misuse
    if (value == 0)
        longjmp(failure, 1);
    pthread_mutex_unlock(&lock);
}

static void *read_value(void *unused) {
    jmp_buf failure;
    if (setjmp(failure) == 0)
        check(failure);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, read_value, NULL);
    value = 0;
    value = 2;
    pthread_mutex_lock(&lock); //~ deadlock
    value = 3;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
