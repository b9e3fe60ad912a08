// verdict: race C
#include <pthread.h>

int taken;
int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Who takes it is not who gives it back: it is no lock.
void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    int was_free = taken == 0;
    if (was_free)
        taken = 1;
    pthread_mutex_unlock(&lock);
    if (was_free)
        x++;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_mutex_lock(&lock);
    taken = 0;
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
