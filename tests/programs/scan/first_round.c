// verdict: race C
// The first round of the loop has no thread to wait for; the second has, and does not.
#include <pthread.h>

static int count;

static void *work(void *argument) {
    (void)argument;
    count++;
    return 0;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        if (i > 1)
            pthread_join(thread, 0);
        count++;
        pthread_create(&thread, 0, work, 0);
    }
    pthread_join(thread, 0);
    return 0;
}
