// verdict: race C
#include <pthread.h>

int use_lock;
int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *argument) {
    if (use_lock)
        pthread_mutex_lock(&lock);
    x++;
    if (use_lock)
        pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t one, two;
    use_lock = 0;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    use_lock = 0;
    return 0;
}
