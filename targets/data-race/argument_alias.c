// Figure 3 of the RacerF paper: two functions that share nothing by name. Both get the address of the same local
// variable of main as their argument, and add one to it.
//
// preemptions: 0
//
// The twin is right because the functions hold a lock while they add.

#include <pthread.h>
#include <stddef.h>

static void *first(void *argument) {
    int *number = argument;
    (*number)++; //~ data-race
    return NULL;
}

static void *second(void *argument) {
    int *number = argument;
    (*number)++; //~ data-race
    return NULL;
}

int main(void) {
    int data = 0;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, &data);
    pthread_create(&threads[1], NULL, second, &data);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return data > 2;
}
