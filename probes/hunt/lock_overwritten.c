//~ about: the holder of a lock writes a new one over it, so that others get in
//~ revisions: mutex mutex_reduced spin rwlock again fixed
//~[mutex] truth: assertion misuse race
//~[mutex_reduced] truth: assertion misuse race
//~[mutex_reduced] options: --analysis context-bound --reduction=dynamic
//~[spin] truth: assertion misuse race
//~[rwlock] truth: assertion misuse race
//~[again] truth: assertion misuse race
//~[again] options: --analysis context-bound --reduction=dynamic
//~[fixed] truth: clean
//~[fixed] options: --analysis context-bound --reduction=dynamic
#include <assert.h>
#include <pthread.h>
static _Atomic int inside;
#if defined SPIN
static pthread_spinlock_t lock;
static void take(void) { pthread_spin_lock(&lock); }
static void give(void) { pthread_spin_unlock(&lock); }
static void overwrite(void) { lock = 1; }
#elif defined RWLOCK
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void take(void) { pthread_rwlock_wrlock(&lock); }
static void give(void) { pthread_rwlock_unlock(&lock); }
static void overwrite(void) { lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER; }
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void take(void) { pthread_mutex_lock(&lock); }
static void give(void) { pthread_mutex_unlock(&lock); }
static void overwrite(void) {
#if defined AGAIN
    pthread_mutex_init(&lock, NULL);
#elif !defined FIXED
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
#endif
}
#endif
static void *holder(void *unused) {
    take();
    inside = 1;
    overwrite();
    inside = 0;
    give();
    return unused;
}
static void *other(void *unused) {
    take();
    assert(!inside);
    give();
    return unused;
}
int main(void) {
    pthread_t a, b;
#ifdef SPIN
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
#endif
    pthread_create(&a, NULL, holder, NULL);
    pthread_create(&b, NULL, other, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
