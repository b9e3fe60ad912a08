// verdict: race C
#include <pthread.h>
#include <semaphore.h>

int x;
sem_t is_there;

void *reader(void *argument) {
    sem_wait(&is_there);
    x++;
    return 0;
}

int main(void) {
    pthread_t other;
    sem_init(&is_there, 0, 0);
    pthread_create(&other, 0, reader, 0);
    sem_post(&is_there);
    x = 1; // too late
    pthread_join(other, 0);
    return 0;
}
