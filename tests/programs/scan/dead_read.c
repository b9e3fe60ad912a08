// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int shared;

void *work(void *argument) {
    int unused = shared;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    shared = 1;
    pthread_join(thread, 0);
    return 0;
}
