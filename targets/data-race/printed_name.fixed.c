// Fixed twin of printed_name.c: both hold the lock of the name.

#include <pthread.h>
#include <stdio.h>

char name[16] = "hunter";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *print(void *unused) {
    pthread_mutex_lock(&lock);
    fprintf(stderr, "%d: %-8s\n", 1, name);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *capitalise(void *unused) {
    pthread_mutex_lock(&lock);
    name[0] = 'H';
    pthread_mutex_unlock(&lock);
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
