// Fixed twin of struct_copy.c: both hold the lock of the structure.

#include <pthread.h>
#include <stddef.h>

struct Sample {
    double values[6];
    int valid;
};

struct Sample live, snapshot;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take_snapshot(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    snapshot = live;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *measure(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    live.values[3] = 0.5;
    pthread_mutex_unlock(&lock);
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
