//~ about: a child process locks what another thread held when it was forked, so that it and its parent wait for ever
//~ truth: any
//~ options: --timeout 1s
//~ must-not: exit-0
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked, over;
static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    sem_post(&locked);
    sem_wait(&over);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t thread;
    int status;
    sem_init(&locked, 0, 0);
    sem_init(&over, 0, 0);
    pthread_create(&thread, 0, work, 0);
    sem_wait(&locked);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        _exit(0);
    }
    waitpid(child, &status, 0);
    sem_post(&over);
    pthread_join(thread, 0);
    return 0;
}
