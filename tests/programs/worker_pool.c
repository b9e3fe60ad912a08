// A pool of workers with a queue of jobs. `pool_wait` returns when the queue is empty, although a worker may still be at the last job.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct job {
    struct job *next;
    void (*run)(int *);
    int *result;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    struct job *first;
    bool closed;
    pthread_t workers[2];
};

static void *work(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        while (!pool->first && !pool->closed)
            pthread_cond_wait(&pool->filled, &pool->lock);
        struct job *job = pool->first;
        if (!job) {
            pthread_mutex_unlock(&pool->lock);
            return 0;
        }
        pool->first = job->next;
        if (!pool->first)
            pthread_cond_signal(&pool->emptied);
        pthread_mutex_unlock(&pool->lock);
        job->run(job->result);
        free(job);
    }
}

static void pool_add(struct pool *pool, void (*run)(int *), int *result) {
    struct job *job = malloc(sizeof *job);
    *job = (struct job){.run = run, .result = result};
    pthread_mutex_lock(&pool->lock);
    job->next = pool->first;
    pool->first = job;
    pthread_cond_signal(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

static void pool_wait(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->first)
        pthread_cond_wait(&pool->emptied, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static pthread_mutex_t results = PTHREAD_MUTEX_INITIALIZER;

static void add_one(int *result) {
    pthread_mutex_lock(&results);
    ++*result;
    pthread_mutex_unlock(&results);
}

int main(void) {
    struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER};
    int sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&pool.workers[i], 0, work, &pool);
    pool_add(&pool, add_one, &sum);
    pool_add(&pool, add_one, &sum);
    pool_wait(&pool);
    pthread_mutex_lock(&results);
    assert(sum == 2);
    pthread_mutex_unlock(&results);
    pthread_mutex_lock(&pool.lock);
    pool.closed = true;
    pthread_cond_broadcast(&pool.filled);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < 2; i++)
        pthread_join(pool.workers[i], 0);
    return 0;
}
