// An array grows by `realloc` while a thread works on an element that it has looked up before. Both hold the lock when
// they touch the array, but the element is where the array was.
//
// preemptions: 1
//
// The twin is right because the thread keeps the index, and looks the element up again.

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *numbers;
static int capacity = 4;

static void *grow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    capacity = 400;
    numbers = realloc(numbers, capacity * sizeof *numbers); //~ use-after-free
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    numbers = calloc(capacity, sizeof *numbers);
    pthread_t thread;
    pthread_create(&thread, NULL, grow, NULL);
    pthread_mutex_lock(&lock);
    int *second = &numbers[1];
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    *second = 5; //~ use-after-free
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    free(numbers);
    return 0;
}
