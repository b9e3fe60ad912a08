// Looking for a ticket and selling it are each done under the lock, but not both together. Two sellers can see the
// last one.
//
// preemptions: 1
//
// The twin is right because the lock is held from the look to the sale.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int tickets = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sell(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int available = tickets > 0;
    pthread_mutex_unlock(&lock);
    if (available) {
        pthread_mutex_lock(&lock);
        tickets--;
        assert(tickets >= 0); //~ assertion
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, sell, NULL);
    pthread_create(&second, NULL, sell, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
