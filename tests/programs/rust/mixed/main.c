// A program in C that uses a library in Rust from two threads.
#include <pthread.h>

long plain_add(void);
long locked_add(void);

static void *run(void *unused) {
    (void)unused;
#ifdef FIXED
    locked_add();
#else
    plain_add();
#endif
    return 0;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, run, 0);
    run(0);
    pthread_join(other, 0);
    return 0;
}
