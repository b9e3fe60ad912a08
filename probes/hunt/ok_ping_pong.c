//~ about: two threads take turns by one condition variable
//~ truth: clean
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn, log_[4], used;
static void *play(void *arg)
{
    long me = (long)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        while (turn != me)
            pthread_cond_wait(&c, &m);
        log_[used++] = (int)me;
        turn = (int)(1 - me);
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, play, (void *)0);
    pthread_create(&b, 0, play, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(used == 4 && log_[0] == 0 && log_[1] == 1 && log_[3] == 1);
    return 0;
}
