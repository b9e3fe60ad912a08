// verdict: race C
#include <pthread.h>
#include <stdlib.h>

void *first(void *argument) {
    int *x = argument;
    (*x)++;
    return 0;
}

void *second(void *argument) {
    int *y = argument;
    (*y)++;
    return 0;
}

int main(void) {
    int data = 0;
    pthread_t one, two;
    pthread_create(&one, 0, first, &data);
    pthread_create(&two, 0, second, &data);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
