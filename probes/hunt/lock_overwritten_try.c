//~ about: whether an attempt to take a held lock fails depends on when another thread writes a new lock over it
//~ revisions: unordered fixed
//~[unordered] truth: assertion race misuse
//~[unordered] options: --analysis context-bound --reduction=dynamic
//~[fixed] truth: clean
//~[fixed] options: --analysis context-bound --reduction=dynamic
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *overwrite(void *unused) {
#ifndef FIXED
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
#endif
    return unused;
}
static void *attempt(void *unused) {
    assert(pthread_mutex_trylock(&lock) != 0);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_mutex_lock(&lock);
    pthread_create(&a, NULL, attempt, NULL);
    pthread_create(&b, NULL, overwrite, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
