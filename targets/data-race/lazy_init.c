// A table is set up by the first thread that needs it, without any synchronisation: two threads may both find it missing.
//
// preemptions: 0
//
// The twin is right because looking and setting up happen under one lock.

#include <pthread.h>
#include <stddef.h>

int storage[2];
int *table;

static int *get_table(void) {
    int *seen = table; //~ data-race
    if (seen == NULL) {
        seen = storage;
        table = seen; //~ data-race
    }
    return seen;
}

static void *fill(void *slot) {
    get_table()[*(int *)slot] = 1;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int slots[2] = {0, 1};
    pthread_create(&first, NULL, fill, &slots[0]);
    pthread_create(&second, NULL, fill, &slots[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return storage[0] + storage[1] != 2;
}
