// Two threads take two locks in opposite orders, but try the second one and give the first one back when they do
// not get it. Tries are bounded; who runs out of them takes the locks in the common order.

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int n;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void lock_both(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    for (int tries = 0; tries < 3; tries++) {
        pthread_mutex_lock(outer);
        if (pthread_mutex_trylock(inner) == 0)
            return;
        pthread_mutex_unlock(outer);
        sched_yield();
    }
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_lock(&locks[1]);
}

static void *work(void *number) {
    int me = *(int *)number;
    lock_both(&locks[me], &locks[1 - me]);
    n++;
    pthread_mutex_unlock(&locks[0]);
    pthread_mutex_unlock(&locks[1]);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int numbers[2] = {0, 1};
    pthread_create(&first, NULL, work, &numbers[0]);
    pthread_create(&second, NULL, work, &numbers[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return n != 2;
}
