// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

int count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void locked(void) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
}
static void unlocked(void) { count++; }
static void nothing(void) {}

void (*const table[2])(void) = {locked, nothing};

void *work(void *argument) {
    for (int i = 0; i < 2; i++)
        table[i]();
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
