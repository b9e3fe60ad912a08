// verdict: race-free B
#include <pthread.h>

__thread int locked;
int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *argument) {
    locked = 1;
    if (locked == 1)
        pthread_mutex_lock(&lock);
    x++;
    if (locked == 1)
        pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
