// Two threads set different bit-fields. Bit-fields without a zero-width separator share one memory location, so
// each write reads and writes back the neighbour too.
//
// preemptions: 0
//
// The twin is right because two ordinary members are two memory locations.

#include <pthread.h>
#include <stddef.h>

struct {
    unsigned char running : 1;
    unsigned char dirty : 1;
} state;

static void *start(void *unused) {
    (void)unused;
    state.running = 1; //~ data-race
    return NULL;
}

static void *modify(void *unused) {
    (void)unused;
    state.dirty = 1; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, start, NULL);
    pthread_create(&second, NULL, modify, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return state.running + state.dirty == 0;
}
