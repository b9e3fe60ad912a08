// verdict: race C
#include <pthread.h>
#include <stdlib.h>

struct cell {
    int value;
    pthread_mutex_t lock;
} cells[2];

void *work(void *argument) {
    struct cell *cell = &cells[argument != 0];
    pthread_mutex_lock(&cell->lock);
    cells[0].value++;
    cell->value++;
    pthread_mutex_unlock(&cell->lock);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_mutex_init(&cells[0].lock, 0);
    pthread_mutex_init(&cells[1].lock, 0);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
