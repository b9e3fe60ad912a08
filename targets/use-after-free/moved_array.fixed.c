// Fixed twin of moved_array.c: the thread keeps the index, and looks the element up again.

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *numbers;
static int capacity = 4;

static void *grow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    capacity = 400;
    numbers = realloc(numbers, capacity * sizeof *numbers);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    numbers = calloc(capacity, sizeof *numbers);
    pthread_t thread;
    pthread_create(&thread, NULL, grow, NULL);
    pthread_mutex_lock(&lock);
    int second = capacity > 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    numbers[second] = 5;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    free(numbers);
    return 0;
}
