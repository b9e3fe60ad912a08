// Fixed twin of string_length.c: both hold the lock of the string.

#include <pthread.h>
#include <string.h>

char name[16] = "hunter";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *measure(void *length) {
    pthread_mutex_lock(&lock);
    *(size_t *)length = strlen(name);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *capitalise(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    name[0] = 'H';
    pthread_mutex_unlock(&lock);
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
