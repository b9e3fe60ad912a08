//~ about: locks taken and given back in helper functions, in a loop, by two kinds of threads
//~ truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int queue[8], used, total;
static void enter(void) { pthread_mutex_lock(&m); }
static void leave(void) { pthread_mutex_unlock(&m); }
static int pop(int *v)
{
    int got = 0;
    enter();
    if (used > 0) {
        *v = queue[--used];
        got = 1;
    }
    leave();
    return got;
}
static void *consumer(void *arg)
{
    int v;
    while (pop(&v)) {
        enter();
        total += v;
        leave();
    }
    return arg;
}
static void *producer(void *arg)
{
    for (int i = 0; i < 3; i++) {
        enter();
        if (used < 8)
            queue[used++] = i;
        leave();
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
