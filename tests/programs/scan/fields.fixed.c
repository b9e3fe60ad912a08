// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

struct pair {
    int left, right;
} pairs[4];

void *work(void *argument) {
    for (int i = 0; i < 4; i++)
        pairs[i].left++;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    for (int i = 0; i < 4; i++)
        pairs[i].right++;
    pthread_join(thread, 0);
    return 0;
}
