// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int value;

void *inner(void *argument) {
    value = 1;
    return 0;
}

void *outer(void *argument) {
    pthread_t thread;
    pthread_create(&thread, 0, inner, 0);
    
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, outer, 0);
    pthread_join(thread, 0);
    value = 2;
    pthread_exit(0);
}
