// verdict: race-free A
#include <pthread.h>

int table[4];
int sum;
pthread_once_t made = PTHREAD_ONCE_INIT;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void make(void) {
    for (int i = 0; i < 4; i++)
        table[i] = i;
}

void *thread(void *argument) {
    pthread_once(&made, make);
    int found = table[2];
    pthread_mutex_lock(&lock);
    sum += found;
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
