// Fixed twin of memcpy_range.c: both hold the buffer's lock.

#include <pthread.h>
#include <string.h>

char message[64], copy[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *save(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    memcpy(copy, message, sizeof copy);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *edit(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    message[41] = 'x';
    pthread_mutex_unlock(&lock);
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
