// verdict: race-free A
#include <pthread.h>
#include <stdlib.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int count;

static void __VERIFIER_add(void) {
    __VERIFIER_atomic_begin();
    count++;
    __VERIFIER_atomic_end();
}

void *work(void *argument) {
    __VERIFIER_add();
    return 0;
}

void *more(void *argument) {
    __VERIFIER_atomic_begin();
    count++;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, more, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
