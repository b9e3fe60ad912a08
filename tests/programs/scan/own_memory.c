// verdict: race C
#include <pthread.h>
#include <stdlib.h>

struct job {
    int number;
    pthread_t thread;
};

void *work(void *argument) {
    struct job *job = argument;
    job->number++;
    free(job);
    return 0;
}

int main(void) {
    struct job *job;
    job = malloc(sizeof *job);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        
        job->number = i;
        pthread_create(&thread, 0, work, job);
    }
    pthread_exit(0);
}
