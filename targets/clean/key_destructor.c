// The destructor of thread-specific data runs when its thread ends, before a join of it returns, also when the
// thread ends by pthread_exit in the middle of a call.

#include <pthread.h>
#include <stddef.h>

static pthread_key_t key;

static void count(void *counter) { *(int *)counter += 10; }

static void leave(void) { pthread_exit(NULL); }

static void *work(void *counter) {
    pthread_setspecific(key, counter);
    *(int *)counter += 1;
    if (pthread_getspecific(key) == counter)
        leave();
    return counter;
}

int main(void) {
    pthread_t first, second;
    int counters[2] = {0, 0};
    void *results[2];
    pthread_key_create(&key, count);
    pthread_create(&first, NULL, work, &counters[0]);
    pthread_create(&second, NULL, work, &counters[1]);
    pthread_join(first, &results[0]);
    pthread_join(second, &results[1]);
    pthread_key_delete(key);
    return results[0] != NULL || results[1] != NULL || counters[0] != 11 || counters[1] != 11;
}
