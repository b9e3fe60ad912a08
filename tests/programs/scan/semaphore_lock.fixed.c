// verdict: race-free A
#include <pthread.h>
#include <semaphore.h>

int x;
sem_t free_places;

void *thread(void *argument) {
    sem_wait(&free_places);
    x++;
    sem_post(&free_places);
    return 0;
}

int main(void) {
    pthread_t one, two;
    sem_init(&free_places, 0, 1);
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
