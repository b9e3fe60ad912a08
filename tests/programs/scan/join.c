// verdict: race C
#include <pthread.h>
#include <stdlib.h>

int result;

void *work(void *argument) {
    result = 1;
    return 0;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, 0, work, 0);
    
    int seen = result;
    pthread_join(one, 0);
    return seen == 7;
}
