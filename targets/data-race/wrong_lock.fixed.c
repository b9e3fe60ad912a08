// Fixed twin of wrong_lock.c: both hold the lock that guards the total.

#include <pthread.h>

int total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t audit_lock = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *unused) {
    (void)unused;
    pthread_mutex_lock(&total_lock);
    total = total + 10;
    pthread_mutex_unlock(&total_lock);
    return NULL;
}

static void *correct(void *unused) {
    (void)unused;
    pthread_mutex_lock(&audit_lock);
    pthread_mutex_lock(&total_lock);
    total = total - 1;
    pthread_mutex_unlock(&total_lock);
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
