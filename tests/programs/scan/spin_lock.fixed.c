// verdict: race-free B
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int x;

void *thread(void *argument) {
    int expected = 0;
    while (!atomic_compare_exchange_strong(&taken, &expected, 1))
        expected = 0;
    x++;
    atomic_store(&taken, 0);
    return 0;
}

int main(void) {
    pthread_t one, two, three;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_create(&three, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
