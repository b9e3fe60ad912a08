// verdict: race C
#include <pthread.h>

int parts[2];
int sums[2];
pthread_barrier_t all_done;

void *first(void *argument) {
    parts[0] = 1;
    pthread_barrier_wait(&all_done);
    sums[0] = parts[0] + parts[1];
    return 0;
}

void *second(void *argument) {
    parts[1] = 2;
    pthread_barrier_wait(&all_done);
    sums[1] = parts[0] + parts[1];
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&all_done, 0, 1); // nobody waits for anybody
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
