// Fixed twin of half_of_an_update.c: main holds the lock during the whole update, as in the paper, so that no thread sees
// the 0.

#include <pthread.h>
#include <stddef.h>

int number = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int seen = number;
    pthread_mutex_unlock(&lock);
    if (seen == 1)
        return NULL;
    number = 2;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    pthread_mutex_lock(&lock);
    *(volatile int *)&number = 0;
    *(volatile int *)&number = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
