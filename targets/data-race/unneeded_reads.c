// Figure 2 of the ReConP paper. The third thread writes to the first place of an array if it sees the value that the
// second one has copied to x; the first thread writes to the same place, whose number it has read from x before. What
// the threads read from y and z besides decides nothing. Locks around each access leave the two writes to the array as
// the only race.
//
// preemptions: 2
//
// The twin is right because the writes to the array hold the lock too.

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
    int place = get(&x);
    places[place] = 0; //~ data-race
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
        places[0] = get(&y); //~ data-race
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
