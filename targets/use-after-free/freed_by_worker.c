// A thread takes over the request that it is given, and frees it when it is done. The thread that made it waits for the
// end and then reads the answer in the request.
//
// preemptions: 0
//
// The twin is right because the one who made the request frees it, after the last look.

#include <pthread.h>
#include <stdlib.h>

struct Request {
    int question;
    int answer;
};

static void *serve(void *argument) {
    struct Request *request = argument;
    request->answer = request->question + 1;
    free(request); //~ use-after-free
    return NULL;
}

int main(void) {
    struct Request *request = calloc(1, sizeof *request);
    pthread_t server;
    pthread_create(&server, NULL, serve, request);
    pthread_join(server, NULL);
    int answer = request->answer; //~ use-after-free
    return answer > 1000;
}
