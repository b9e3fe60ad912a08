// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

int depth;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void descend(int left) {
    if (!left)
        return;
    pthread_mutex_lock(&lock);
    depth++;
    pthread_mutex_unlock(&lock);
    descend(left - 1);
}

void *work(void *argument) {
    descend(3);
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
