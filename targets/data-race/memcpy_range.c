// One thread copies a whole buffer while another changes one byte in its middle.
//
// preemptions: 0
//
// The twin is right because both hold the buffer's lock.

#include <pthread.h>
#include <string.h>

char message[64], copy[64];

static void *save(void *unused) {
    (void)unused;
    memcpy(copy, message, sizeof copy); //~ data-race
    return NULL;
}

static void *edit(void *unused) {
    (void)unused;
    message[41] = 'x'; //~ data-race
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, save, NULL);
    pthread_create(&second, NULL, edit, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return copy[41] != '\0' && copy[41] != 'x';
}
