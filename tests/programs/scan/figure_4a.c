// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int *shared;

void *make(void *argument) {
    shared = calloc(1, sizeof *shared);
    return 0;
}

void *use(void *argument) {
    (*shared)++;
    return 0;
}

int main(void) {
    pthread_t maker, one, two;
    pthread_create(&maker, 0, make, 0);
    pthread_join(maker, 0);
    pthread_create(&one, 0, use, 0);
    pthread_create(&two, 0, use, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
