// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
int shared;

void *work(void *argument) {
    if (__VERIFIER_nondet_int() == 4711)
        {}
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    shared = 1;
    pthread_join(thread, 0);
    return 0;
}
