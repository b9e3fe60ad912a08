// Figure 4 of the ReConP paper: a recursive function swaps its arguments at every depth, so that the result depends on
// the first one only through part of the calls. Its arguments are read without the lock that the writer holds.
//
// preemptions: 0
//
// The twin is right because the reader holds the lock while it reads the arguments.

#include <pthread.h>
#include <stddef.h>

int a = 1, b = 2, c;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int weigh(int first, int second, int depth) {
    if (depth == 3)
        return 0;
    return first * 2 + weigh(second, first, depth + 1);
}

static void *compute(void *unused) {
    c = weigh(a, 2, 1); //~ data-race
    return unused;
}

static void *change(void *unused) {
    pthread_mutex_lock(&lock);
    a = b; //~ data-race
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, compute, NULL);
    pthread_create(&threads[1], NULL, change, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return c > 10;
}
