// The smallest execution worth exploring: two threads, one counter, one mutex.
//
// Built with -DTINY_LOOP it runs as a loop in one process (see racehunter.h), otherwise each execution is a process.
#include <pthread.h>
#include <stddef.h>

#ifdef TINY_LOOP
#include <racehunter.h>
#endif

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void reset(void) { counter = 0; }

static void *increment(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    counter = counter + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, increment, NULL);
    pthread_create(&second, NULL, increment, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

int main(void) {
#ifdef TINY_LOOP
    return racehunter_loop(test, reset);
#else
    reset();
    test();
    return counter != 2;
#endif
}
