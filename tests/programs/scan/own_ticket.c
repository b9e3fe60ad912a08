// verdict: race C
#include <pthread.h>

int places[8];
int next;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int take(void) {
    int taken = -1;
    pthread_mutex_lock(&lock);
    if (next + 2 <= 8) {
        taken = next;
        next += 1; // the second place is the first of the next one
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void *thread(void *argument) {
    int mine = take();
    if (mine != -1) {
        places[mine] = 1;
        places[mine + 1] = 2;
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
