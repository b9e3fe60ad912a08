// Two processes with two threads each share a mutex, a condition variable and two semaphores, one of which has a name.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5

static struct Shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sem_t ready;
    int turn;
    int total;
} *shared;
static sem_t *named;

static void take_turns(int own) {
    for (int i = 0; i < ROUNDS; i++) {
        assert(pthread_mutex_lock(&shared->lock) == 0);
        while (shared->turn != own)
            assert(pthread_cond_wait(&shared->changed, &shared->lock) == 0);
        shared->turn = !own;
        shared->total++;
        assert(pthread_cond_broadcast(&shared->changed) == 0);
        assert(pthread_mutex_unlock(&shared->lock) == 0);
    }
}

static void *add(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        assert(pthread_mutex_lock(&shared->lock) == 0);
        shared->total++;
        assert(pthread_mutex_unlock(&shared->lock) == 0);
    }
    return unused;
}

static void work(int own) {
    pthread_t thread;
    assert(pthread_create(&thread, NULL, add, NULL) == 0);
    take_turns(own);
    assert(pthread_join(thread, NULL) == 0);
}

int main(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(shared != MAP_FAILED);
    pthread_mutexattr_t mutex_attributes;
    pthread_mutexattr_init(&mutex_attributes);
    pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED);
    assert(pthread_mutex_init(&shared->lock, &mutex_attributes) == 0);
    pthread_condattr_t condition_attributes;
    pthread_condattr_init(&condition_attributes);
    pthread_condattr_setpshared(&condition_attributes, PTHREAD_PROCESS_SHARED);
    assert(pthread_cond_init(&shared->changed, &condition_attributes) == 0);
    assert(sem_init(&shared->ready, 1, 0) == 0);
    named = sem_open("/racehunter-processes", O_CREAT | O_EXCL, 0600, 0);
    assert(named != SEM_FAILED && sem_unlink("/racehunter-processes") == 0);

    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        assert(sem_wait(named) == 0);
        work(1);
        assert(sem_post(&shared->ready) == 0);
        _exit(0);
    }
    assert(sem_post(named) == 0);
    work(0);
    assert(sem_wait(&shared->ready) == 0);
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    assert(shared->total == 4 * ROUNDS);
    return 0;
}
