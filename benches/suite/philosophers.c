// bug: deadlock
// sizes: 2 5 10
// Each takes the fork to the left, then the one to the right.
#include <pthread.h>

static pthread_mutex_t forks[N];

static void *dine(void *argument) {
    long own = (long)argument;
    pthread_mutex_lock(&forks[own]);
    pthread_mutex_lock(&forks[(own + 1) % N]);
    pthread_mutex_unlock(&forks[(own + 1) % N]);
    pthread_mutex_unlock(&forks[own]);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], 0);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, dine, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
