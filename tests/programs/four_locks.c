// Four threads, each with a lock of its own that it holds while it asks its neighbour: a cycle of four.
#include <pthread.h>

enum { TABLES = 4 };

static pthread_mutex_t tables[TABLES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                         PTHREAD_MUTEX_INITIALIZER};
static int guests[TABLES];

static void *move_guest(void *argument) {
    long from = (long)argument, to = (from + 1) % TABLES;
    pthread_mutex_lock(&tables[from]);
    pthread_mutex_lock(&tables[to]);
    guests[from]--;
    guests[to]++;
    pthread_mutex_unlock(&tables[to]);
    pthread_mutex_unlock(&tables[from]);
    return 0;
}

int main(void) {
    pthread_t threads[TABLES];
    for (long i = 0; i < TABLES; i++)
        pthread_create(&threads[i], 0, move_guest, (void *)i);
    for (int i = 0; i < TABLES; i++)
        pthread_join(threads[i], 0);
    return 0;
}
