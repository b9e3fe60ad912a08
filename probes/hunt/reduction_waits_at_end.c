//~ about: a thread that waits when the program ends could have gone on before another thread took what it waits for
//~ revisions: semaphore mutex rwlock spin fixed
//~[semaphore] truth: crash
//~[mutex] truth: crash
//~[rwlock] truth: crash
//~[spin] truth: crash
//~[fixed] truth: clean
//~ options: --analysis dfs --reduction=dynamic
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#if defined MUTEX
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void make(void) {}
static void take(void) { pthread_mutex_lock(&lock); }
static void give(void) { pthread_mutex_unlock(&lock); }
#elif defined RWLOCK
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void make(void) {}
static void take(void) { pthread_rwlock_wrlock(&lock); }
static void give(void) { pthread_rwlock_unlock(&lock); }
#elif defined SPIN
static pthread_spinlock_t lock;
static void make(void) { pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE); }
static void take(void) { pthread_spin_lock(&lock); }
static void give(void) { pthread_spin_unlock(&lock); }
#else
static sem_t lock;
static void make(void) { sem_init(&lock, 0, 1); }
static void take(void) { sem_wait(&lock); }
static void give(void) { sem_post(&lock); }
#endif
static void *waits(void *unused) {
    take();
#ifndef FIXED
    abort();
#endif
    give();
    return unused;
}
int main(void) {
    pthread_t thread;
    make();
    take();
    pthread_create(&thread, NULL, waits, NULL);
    give();
    take();
    exit(0);
}
