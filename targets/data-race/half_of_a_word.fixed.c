// Fixed twin of half_of_a_word.c: the halves are in a separate variable.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

union {
    uint64_t whole;
    uint32_t half[2];
} stamp;
uint32_t half[2];

static void *write_half(void *unused) {
    (void)unused;
    half[1] = 7;
    return NULL;
}

static void *read_whole(void *seen) {
    *(uint64_t *)seen = stamp.whole;
    return NULL;
}

int main(void) {
    pthread_t writer, reader;
    uint64_t seen = 0;
    pthread_create(&writer, NULL, write_half, NULL);
    pthread_create(&reader, NULL, read_whole, &seen);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return (uint32_t)seen != 0 || half[1] != 7;
}
