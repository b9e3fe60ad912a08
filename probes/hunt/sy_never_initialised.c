//~ about: a spin lock and a barrier that nothing has initialised
//~ revisions: spin barrier fixed
//~[spin] truth: misuse deadlock
//~[spin] want: found
//~[barrier] truth: misuse deadlock assertion
//~[barrier] want: found
//~[fixed] truth: clean
#include <pthread.h>
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static int count;
static void *work(void *unused) {
#ifndef BARRIER
    pthread_spin_lock(&spin);
    count++;
    pthread_spin_unlock(&spin);
#endif
#ifndef SPIN
    pthread_barrier_wait(&barrier);
#endif
    return unused;
}
int main(void) {
    pthread_t a, b;
#ifndef SPIN
#ifndef BARRIER
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, 2);
#endif
#endif
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
