// A detached thread writes its answer into a variable on the stack of main, which reads it before it waits.
//
// preemptions: 1
//
// The twin is right because main first waits for the semaphore, which the thread posts after its last access.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

struct Request {
    int answer;
    sem_t done;
};

static void *serve(void *argument) {
    struct Request *request = argument;
    request->answer = 1; //~ data-race
    sem_post(&request->done);
    return NULL;
}

int main(void) {
    struct Request request = {.answer = 0};
    pthread_t server;
    sem_init(&request.done, 0, 0);
    pthread_create(&server, NULL, serve, &request);
    pthread_detach(server);
    int answer = request.answer; //~ data-race
    sem_wait(&request.done);
    return answer > 1;
}
