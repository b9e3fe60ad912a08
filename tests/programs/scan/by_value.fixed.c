// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

struct big {
    long numbers[8];
} shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long look(struct big copy) { return copy.numbers[0]; }

void *work(void *argument) {
    pthread_mutex_lock(&lock);
    shared.numbers[3] = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&lock);
    long seen = look(shared);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return seen == 7;
}
