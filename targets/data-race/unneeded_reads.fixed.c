// Fixed twin of unneeded_reads.c: the writes to the array hold the lock too.

#include <pthread.h>
#include <stddef.h>

int x, y, z, t;
int places[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get(const int *from) {
    pthread_mutex_lock(&lock);
    int value = *from;
    pthread_mutex_unlock(&lock);
    return value;
}

static void set(int *to, int value) {
    pthread_mutex_lock(&lock);
    *to = value;
    pthread_mutex_unlock(&lock);
}

static void *first(void *unused) {
    set(&x, 0);
    set(&places[get(&x)], 0);
    set(&y, 1);
    return unused;
}

static void *second(void *unused) {
    set(&t, get(&y));
    if (get(&z) == 0)
        set(&z, get(&t));
    set(&x, get(&z));
    if (get(&y) > 0)
        set(&t, 0);
    set(&y, 3);
    return unused;
}

static void *third(void *unused) {
    set(&z, 2);
    set(&z, get(&y));
    if (get(&x) == 2)
        set(&places[0], get(&y));
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_create(&threads[2], NULL, third, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
