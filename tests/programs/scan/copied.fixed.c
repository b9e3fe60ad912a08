// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

#include <string.h>
char shared[16];

void *work(void *argument) {
    char own[16] = "abc";
    memcpy(shared + 8, own, 8);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    shared[0] = 1;
    pthread_join(thread, 0);
    return 0;
}
