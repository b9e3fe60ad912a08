// Fixed twin of detached_stack.c: main waits for a semaphore that the thread posts after its last access.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

struct Request {
    int answer;
    sem_t done;
};

static void *serve(void *argument) {
    struct Request *request = argument;
    request->answer = 1;
    sem_post(&request->done);
    return NULL;
}

int main(void) {
    struct Request request = {.answer = 0};
    pthread_t server;
    sem_init(&request.done, 0, 0);
    pthread_create(&server, NULL, serve, &request);
    pthread_detach(server);
    sem_wait(&request.done);
    int answer = request.answer;
    return answer > 1;
}
