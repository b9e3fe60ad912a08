// A structure is assigned as a whole while another thread changes one of its members: the assignment reads all
// bytes of it.
//
// preemptions: 0
//
// The twin is right because both hold the lock of the structure.

#include <pthread.h>
#include <stddef.h>

struct Sample {
    double values[6];
    int valid;
};

struct Sample live, snapshot;

static void *take_snapshot(void *unused) {
    (void)unused;
    snapshot = live; //~ data-race
    return NULL;
}

static void *measure(void *unused) {
    (void)unused;
    live.values[3] = 0.5; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, take_snapshot, NULL);
    pthread_create(&second, NULL, measure, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return snapshot.valid != 0 || snapshot.values[3] > 0.5;
}
