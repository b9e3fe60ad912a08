// bug: assertion
// Two threads make an object when it is first needed; each sees that it is not there, and makes one.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made, is_there;

static void *get(void *unused) {
    pthread_mutex_lock(&lock);
    int there = is_there;
    pthread_mutex_unlock(&lock);
    if (!there) {
        pthread_mutex_lock(&lock);
        made++;
        is_there = 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, get, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(made == 1);
    return 0;
}
