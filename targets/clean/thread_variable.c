// The same variable of C, written by every thread; its address is different in each of them, and may be used again
// by a thread that starts later.

#include <pthread.h>
#include <stddef.h>

static _Thread_local int depth;

static void *dive(void *unused) {
    (void)unused;
    for (int i = 0; i < 5; i++)
        depth++;
    return depth == 5 ? NULL : &depth;
}

int main(void) {
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        pthread_t first, second;
        void *result;
        pthread_create(&first, NULL, dive, NULL);
        pthread_create(&second, NULL, dive, NULL);
        pthread_join(first, &result);
        failed += result != NULL;
        pthread_join(second, &result);
        failed += result != NULL;
    }
    return failed + depth;
}
