// A count is checked for zero and read again for the division. In between the other thread resets it.
//
// preemptions: 1
//
// The twin is right because the count is read once.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int sum = 10, count = 5;

static void *average(void *result) {
    if (count != 0)
        *(int *)result = sum / count; //~ crash
    return NULL;
}

static void *reset(void *unused) {
    (void)unused;
    count = 0;
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    int result = 2;
    pthread_create(&reader, NULL, average, &result);
    pthread_create(&writer, NULL, reset, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return result != 2;
}
