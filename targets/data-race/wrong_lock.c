// Both threads hold a lock while they change the total, but not the same one.
//
// preemptions: 0
//
// The twin is right because both hold the lock that guards the total.

#include <pthread.h>

int total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t audit_lock = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *unused) {
    (void)unused;
    pthread_mutex_lock(&total_lock);
    total = total + 10; //~ data-race
    pthread_mutex_unlock(&total_lock);
    return NULL;
}

static void *correct(void *unused) {
    (void)unused;
    pthread_mutex_lock(&audit_lock);
    total = total - 1; //~ data-race
    pthread_mutex_unlock(&audit_lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, deposit, NULL);
    pthread_create(&second, NULL, correct, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total > 10;
}
