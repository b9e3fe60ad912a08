// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int value;

void *work(void *argument) {
    value++;
    return 0;
}

int main(void) {
    pthread_t old, thread;
    pthread_create(&old, 0, work, 0);
    for (int i = 0; i < 2; i++) {
        
        pthread_create(&thread, 0, work, 0);
        pthread_join(old, 0);
        old = thread;
    }
    pthread_join(old, 0);
    return 0;
}
