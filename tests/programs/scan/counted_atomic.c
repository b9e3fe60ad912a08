// verdict: race C
// The main thread waits until all workers have counted themselves, too early.
#include <pthread.h>
#include <stdatomic.h>

#define WORKERS 3

static int parts[WORKERS], total;
static atomic_int done;

static void *work(void *argument) {
    long me = (long)argument;
    atomic_fetch_add(&done, 1);
    parts[me] = (int)me + 1;
    return 0;
}

int main(void) {
    for (long i = 0; i < WORKERS; i++) {
        pthread_t worker;
        pthread_create(&worker, 0, work, (void *)i);
        pthread_detach(worker);
    }
    while (atomic_load(&done) != WORKERS)
        ;
    for (int i = 0; i < WORKERS; i++)
        total += parts[i];
    return total != 6;
}
