// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

#define N 3
struct part {
    int from, sum;
} parts[N + 1];

void *work(void *argument) {
    struct part *part = argument;
    part->sum = part->from + 1;
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        parts[i].from = i;
        pthread_create(&threads[i], 0, work, &parts[i]);
    }
    int all = 0;
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < N; i++)
        all += parts[i].sum;
    return all == 77;
}
