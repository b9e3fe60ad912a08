// Fixed twin of check_then_act.c: the lock is held from the look to the sale.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int tickets = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sell(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int available = tickets > 0;
    if (available) {
        tickets--;
        assert(tickets >= 0);
    }
    pthread_mutex_unlock(&lock);
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
