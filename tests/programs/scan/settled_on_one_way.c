// verdict: race C
#include <pthread.h>

int setting;
int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *other(void *argument) {
    pthread_mutex_lock(&lock);
    setting = 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    int is_set = setting;
    pthread_mutex_unlock(&lock);
    if (is_set)
        x++;
    return 0;
}

// On one way there is a thread already, on the other the setting is changed before there is any.
int main(int count, char **arguments) {
    pthread_t one, two;
    if (count > 5)
        pthread_create(&one, 0, other, 0);
    else
        setting = 1;
    pthread_create(&two, 0, thread, 0);
    x++;
    pthread_join(two, 0);
    return 0;
}
