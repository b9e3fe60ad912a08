// Two threads take turns with one plain variable, handed back and forth by two semaphores.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

int ball;
static sem_t ping, pong;

static void *answer(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        sem_wait(&ping);
        ball = ball * 2;
        sem_post(&pong);
    }
    return NULL;
}

int main(void) {
    pthread_t other;
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&other, NULL, answer, NULL);
    for (int i = 0; i < 3; i++) {
        ball = ball + 1;
        sem_post(&ping);
        sem_wait(&pong);
    }
    pthread_join(other, NULL);
    return ball != 14;
}
