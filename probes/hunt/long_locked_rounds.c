//~ about: one of 400 rounds leaves a moment in which the invariant does not hold
//~ truth: assertion
//~ preemptions: 1
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a, b;
static void *rounds(void *arg)
{
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&m);
        a++;
        if (i == 311) {
            pthread_mutex_unlock(&m);
            pthread_mutex_lock(&m);
        }
        b++;
        pthread_mutex_unlock(&m);
    }
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, rounds, 0);
    pthread_mutex_lock(&m);
    assert(a == b);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
