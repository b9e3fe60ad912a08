// Fixed twin of freed_by_worker.c: the one who made the request frees it, after the last look.

#include <pthread.h>
#include <stdlib.h>

struct Request {
    int question;
    int answer;
};

static void *serve(void *argument) {
    struct Request *request = argument;
    request->answer = request->question + 1;
    return NULL;
}

int main(void) {
    struct Request *request = calloc(1, sizeof *request);
    pthread_t server;
    pthread_create(&server, NULL, serve, request);
    pthread_join(server, NULL);
    int answer = request->answer;
    free(request);
    return answer > 1000;
}
