// Printing reads memory too: one thread prints a name while another changes it.
//
// preemptions: 0
//
// The twin is right because both hold the lock of the name.

#include <pthread.h>
#include <stdio.h>

char name[16] = "hunter";

static void *print(void *unused) {
    fprintf(stderr, "%d: %-8s\n", 1, name); //~ data-race
    return unused;
}

static void *capitalise(void *unused) {
    name[0] = 'H'; //~ data-race
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, print, NULL);
    pthread_create(&second, NULL, capitalise, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
