//~ about: a mutex in a local variable is another one when the function is called again, whatever became of the first
//~ truth: clean
#include <assert.h>
#include <pthread.h>
static int locks(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    return pthread_mutex_trylock(&mutex);
}
static void *work(void *unused) {
    assert(locks() == 0);
    assert(locks() == 0);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
