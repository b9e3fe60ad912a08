// Every thread gets the address of the loop variable as its argument, and reads it while main already counts on.
//
// preemptions: 0
//
// The twin is right because every thread gets its own variable.

#include <pthread.h>
#include <stddef.h>

static void *visit(void *number) {
    int me = *(int *)number; //~ data-race
    return me > 2 ? number : NULL;
}

int main(void) {
    pthread_t threads[2];
    int i;
    for (i = 0; i < 2; i++) //~ data-race
        pthread_create(&threads[i], NULL, visit, &i);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
