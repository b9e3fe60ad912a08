// verdict: race C
#include <pthread.h>
#include <stdatomic.h>

atomic_int g;
int x;

void *thread(void *argument) {
    g++;
    x++;
    return 0;
}

int main(void) {
    pthread_t other;
    g = 0;
    pthread_create(&other, 0, thread, 0);
    if (g == 1)
        x = 5; // reached only because of what the other thread did
    pthread_join(other, 0);
    return 0;
}
