// A wait releases a recursive mutex only once, and the thread holds it twice. No thread can get in to set what it waits
// for. If the setter comes first, nothing is wrong.
//
// preemptions: 0
//
// The twin is right because the thread holds the mutex once when it waits.

#include <pthread.h>
#include <stddef.h>

static int ready;
static pthread_mutex_t lock;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wait_until_ready(void) {
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock); //~ deadlock
    pthread_mutex_unlock(&lock);
}

static void *set(void *unused) {
    pthread_mutex_lock(&lock); //~ deadlock
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *use(void *unused) {
    pthread_mutex_lock(&lock);
    wait_until_ready();
    ready++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    pthread_t setter, user;
    pthread_create(&setter, NULL, set, NULL);
    pthread_create(&user, NULL, use, NULL);
    pthread_join(setter, NULL); //~ deadlock
    pthread_join(user, NULL);
    return 0;
}
