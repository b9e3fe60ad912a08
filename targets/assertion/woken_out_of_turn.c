// Two threads wait for one ticket. The program takes it for granted that a signal wakes the thread that has waited longest,
// which is not guaranteed.
// preemptions: 2
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived, tickets, served = -1;

static void *queue(void *unused) {
    pthread_mutex_lock(&lock);
    int place = arrived++;
    while (tickets == 0)
        pthread_cond_wait(&changed, &lock);
    tickets--;
    if (served < 0)
        served = place;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, queue, NULL);
    pthread_mutex_lock(&lock);
    int both = arrived == 2;
    if (both) {
        tickets = 1;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (both)
        assert(served != 1); //~ assertion
    tickets = 9;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
