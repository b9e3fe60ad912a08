// Fixed twin of bit_fields.c: two ordinary members are two memory locations.

#include <pthread.h>
#include <stddef.h>

struct {
    unsigned char running;
    unsigned char dirty;
} state;

static void *start(void *unused) {
    (void)unused;
    state.running = 1;
    return NULL;
}

static void *modify(void *unused) {
    (void)unused;
    state.dirty = 1;
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
