// verdict: race C
// What a thread keeps under a key is shared, if all keep the same.
#include <pthread.h>

static pthread_key_t key;
static int common;

static void *work(void *argument) {
    (void)argument;
    pthread_setspecific(key, &common);
    int *mine = pthread_getspecific(key);
    *mine += 1;
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_key_create(&key, 0);
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
