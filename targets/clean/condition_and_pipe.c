// Work is announced by a condition variable, results come back through a pipe.

#include <pthread.h>
#include <unistd.h>

enum { JOBS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t available = PTHREAD_COND_INITIALIZER;
static int posted;
static int ends[2];
static int results[JOBS];

static void *work(void *unused) {
    (void)unused;
    for (int job = 0; job < JOBS; job++) {
        pthread_mutex_lock(&lock);
        while (posted <= job) {
            pthread_cond_wait(&available, &lock);
        }
        pthread_mutex_unlock(&lock);
        results[job] = job * job;
        if (write(ends[1], &job, sizeof job) != sizeof job) {
            break;
        }
    }
    close(ends[1]);
    return NULL;
}

int main(void) {
    pthread_t worker;
    int sum = 0, job;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&lock);
        posted++;
        pthread_cond_signal(&available);
        pthread_mutex_unlock(&lock);
    }
    // The end of the pipe says that the worker has closed it.
    while (read(ends[0], &job, sizeof job) == sizeof job) {
        sum += results[job];
    }
    pthread_join(worker, NULL);
    return sum == 0 + 1 + 4 ? 0 : 1;
}
