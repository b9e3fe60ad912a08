// Two locks in two orders, and an alarm that would end the program: the deadlock is what there is to tell.
//
// preemptions: 1
//
// The twin is right because both take the locks in the same order.

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *other_way(void *unused) {
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left); //~ deadlock
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void) {
    pthread_t thread;
    alarm(30);
    pthread_create(&thread, NULL, other_way, NULL);
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right); //~ deadlock
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    pthread_join(thread, NULL);
    return 0;
}
