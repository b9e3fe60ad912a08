// verdict: race-free B
// The main thread waits until all workers have said that they are done, and takes what they have made.
#include <pthread.h>

#define WORKERS 3

static int parts[WORKERS], total, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *work(void *argument) {
    long me = (long)argument;
    parts[me] = (int)me + 1;
    pthread_mutex_lock(&lock);
    done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    for (long i = 0; i < WORKERS; i++) {
        pthread_t worker;
        pthread_create(&worker, 0, work, (void *)i);
        pthread_detach(worker);
    }
    pthread_mutex_lock(&lock);
    while (done < WORKERS)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++)
        total += parts[i];
    return total != 6;
}
