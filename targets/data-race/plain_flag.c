// A value is published by a flag that is an ordinary variable: nothing orders the write of the flag with its read,
// and therefore nothing orders the payload either.
//
// preemptions: 0
//
// The twin is right because the flag is atomic, so a reader that sees it set also sees what was written before it
// was set.

#include <pthread.h>
#include <stdatomic.h>

int payload;
int ready;

static void *publish(void *unused) {
    (void)unused;
    payload = 42; //~ also data-race
    ready = 1;    //~ data-race
    return NULL;
}

static void *consume(void *result) {
    if (ready)                   //~ data-race
        *(int *)result = payload; //~ also data-race
    return NULL;
}

int main(void) {
    pthread_t producer, consumer;
    int result = 0;
    pthread_create(&producer, NULL, publish, NULL);
    pthread_create(&consumer, NULL, consume, &result);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    return result != 0 && result != 42;
}
