// verdict: race C
#include <pthread.h>
#include <stdlib.h>

#define N 3
int sums[N + 1];

void *work(void *argument) {
    long number = (long)argument;
    sums[number / 2]++;
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, work, (void *)(long)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return sums[0] == 7;
}
