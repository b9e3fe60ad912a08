// verdict: race-free A
#include <pthread.h>

int x;
pthread_t early;

void *thread(void *argument) {
    x++;
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    pthread_create(&early, 0, thread, 0);
}

int main(void) {
    pthread_join(early, 0);
    x++;
    return 0;
}
