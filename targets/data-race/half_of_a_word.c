// One thread writes four bytes of a value that another thread reads as eight.
//
// preemptions: 0
//
// The twin is right because the halves are in a separate variable.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

union {
    uint64_t whole;
    uint32_t half[2];
} stamp;

static void *write_half(void *unused) {
    (void)unused;
    stamp.half[1] = 7; //~ data-race
    return NULL;
}

static void *read_whole(void *seen) {
    *(uint64_t *)seen = stamp.whole; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t writer, reader;
    uint64_t seen = 0;
    pthread_create(&writer, NULL, write_half, NULL);
    pthread_create(&reader, NULL, read_whole, &seen);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return (uint32_t)seen != 0;
}
