// A library function reads memory too: one thread takes the length of a string while another changes it.
//
// preemptions: 0
//
// The twin is right because both hold the lock of the string.

#include <pthread.h>
#include <string.h>

char name[16] = "hunter";

static void *measure(void *length) {
    *(size_t *)length = strlen(name); //~ data-race
    return NULL;
}

static void *capitalise(void *unused) {
    (void)unused;
    name[0] = 'H'; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    size_t length = 0;
    pthread_create(&first, NULL, measure, &length);
    pthread_create(&second, NULL, capitalise, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return length != 6;
}
