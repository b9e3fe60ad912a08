// Fixed twin of lazy_init.c: looking and setting up happen under one lock.

#include <pthread.h>
#include <stddef.h>

int storage[2];
int *table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int *get_table(void) {
    pthread_mutex_lock(&lock);
    int *seen = table;
    if (seen == NULL) {
        seen = storage;
        table = seen;
    }
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *fill(void *slot) {
    get_table()[*(int *)slot] = 1;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int slots[2] = {0, 1};
    pthread_create(&first, NULL, fill, &slots[0]);
    pthread_create(&second, NULL, fill, &slots[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return storage[0] + storage[1] != 2;
}
