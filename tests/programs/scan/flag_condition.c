// verdict: race C
#include <pthread.h>
#include <stdbool.h>

bool ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int data;

void *reader(void *argument) {
    pthread_mutex_lock(&lock);
    if (!ready && argument) // nobody waits
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    int seen = data;
    return (void *)(long)seen;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, reader, 0);
    pthread_create(&two, 0, reader, 0);
    data = 7;
    pthread_mutex_lock(&lock);
    ready = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
