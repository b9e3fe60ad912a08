//~ about: two threads wait on one condition variable for different things; the signal may wake the wrong one
//~ revisions: signal broadcast
//~[signal] truth: deadlock lost-wakeup
//~[broadcast] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn;
static void *waits(void *arg)
{
    int mine = *(int *)arg;
    pthread_mutex_lock(&m);
    while (turn < mine)
        pthread_cond_wait(&c, &m);
    turn++;
#ifdef SIGNAL
    pthread_cond_signal(&c);
#else
    pthread_cond_broadcast(&c);
#endif
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    int one = 1, two = 2;
    pthread_t a, b;
    pthread_create(&a, 0, waits, &one);
    pthread_create(&b, 0, waits, &two);
    pthread_mutex_lock(&m);
    turn = 1;
#ifdef SIGNAL
    pthread_cond_signal(&c);
#else
    pthread_cond_broadcast(&c);
#endif
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
