// verdict: race C
#include <pthread.h>
#include <stdlib.h>

volatile int count;

void *work(void *argument) {
    count++;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
