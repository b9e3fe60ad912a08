// Fixed twin of withdrawal.c: the balance is checked and changed in one critical section.

#include <assert.h>
#include <pthread.h>
#include <racehunter.h>
#include <stddef.h>

int balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void reset(void) { balance = 50; }

static void *withdraw(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int enough = balance >= 50;
    if (enough)
        balance -= 50;
    assert(balance >= 0);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, withdraw, NULL);
    pthread_create(&second, NULL, withdraw, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

int main(void) {
    return racehunter_loop(test, reset);
}
