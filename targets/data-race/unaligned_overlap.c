// An eight-byte member of a packed structure lies across a word boundary; another thread writes the one byte of it
// that is in the second word.
//
// preemptions: 0
//
// The twin is right because the other thread writes the next byte, which is not part of the member.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct __attribute__((packed)) Frame {
    uint8_t kind;
    uint64_t stamp; // bytes 1 to 8
    uint8_t flags[7];
};

union {
    struct Frame frame;
    uint8_t raw[16];
} buffer __attribute__((aligned(8)));

static void *write_stamp(void *stamp) {
    buffer.frame.stamp = *(uint64_t *)stamp; //~ data-race
    return NULL;
}

static void *write_flag(void *unused) {
    (void)unused;
    buffer.raw[8] = 1; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    uint64_t stamp = 5;
    pthread_create(&first, NULL, write_stamp, &stamp);
    pthread_create(&second, NULL, write_flag, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return buffer.raw[1] != 5;
}
