// bug: assertion
// Money is taken out, the lock is given up, and money is put in again by what was read before.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int get(void) {
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *deposit(void *unused) {
    int now = get();
    pthread_mutex_lock(&lock);
    balance = now + 50;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *withdraw(void *unused) {
    int now = get();
    pthread_mutex_lock(&lock);
    balance = now - 30;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, deposit, 0);
    pthread_create(&threads[1], 0, withdraw, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(balance == 120);
    return 0;
}
