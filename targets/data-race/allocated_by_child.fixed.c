// Fixed twin of allocated_by_child.c: the number is atomic.

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int *number;

static void *allocate(void *unused) {
    number = calloc(1, sizeof *number);
    return unused;
}

static void *add(void *unused) {
    (*number)++;
    return unused;
}

int main(void) {
    pthread_t allocator, adders[2];
    pthread_create(&allocator, NULL, allocate, NULL);
    pthread_join(allocator, NULL);
    pthread_create(&adders[0], NULL, add, NULL);
    pthread_create(&adders[1], NULL, add, NULL);
    pthread_join(adders[0], NULL);
    pthread_join(adders[1], NULL);
    int result = *number;
    free(number);
    return result > 2;
}
