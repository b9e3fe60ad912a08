//~ about: two conditions on one variable: the signal may wake the one who can do nothing with it
//~ revisions: bug fixed
//~[bug] truth: deadlock lost-wakeup
//~[bug] unless-assumes: wake waiter
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int red, blue;
static void *wait_for(void *what)
{
    int *colour = what;
    pthread_mutex_lock(&m);
    while (!*colour)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}
static void give(int *colour)
{
    pthread_mutex_lock(&m);
    *colour = 1;
#ifdef BUG
    pthread_cond_signal(&c);
#else
    pthread_cond_broadcast(&c);
#endif
    pthread_mutex_unlock(&m);
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, wait_for, &red);
    pthread_create(&b, 0, wait_for, &blue);
    give(&red);
    pthread_join(a, 0);
    give(&blue);
    pthread_join(b, 0);
    return 0;
}
