// Listing 1 of the watchpoint paper. If `publish` runs first, every access to `a` is made with a lock held, and
// only the other order shows that the `else` branch takes none.
//
// preemptions: 0
//
// The twin is right because the `else` branch takes the lock as well.

#include <pthread.h>
#include <stddef.h>

int a, b;
static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_b = PTHREAD_MUTEX_INITIALIZER;

static void *publish(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock_a);
    a = 1; //~ data-race
    pthread_mutex_unlock(&lock_a);
    pthread_mutex_lock(&lock_b);
    b = 1;
    pthread_mutex_unlock(&lock_b);
    return NULL;
}

static void *follow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock_b);
    int published = b;
    pthread_mutex_unlock(&lock_b);
    if (published) {
        pthread_mutex_lock(&lock_a);
        a = 2;
        pthread_mutex_unlock(&lock_a);
    } else {
        a = 3; //~ data-race
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, publish, NULL);
    pthread_create(&second, NULL, follow, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return a == 0;
}
