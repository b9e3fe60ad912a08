//~ about: two names for the lock are one lock, and two names for the data are one variable
//~ truth: race
#include <pthread.h>
int x;
extern int y __attribute__((alias("x")));
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *arg)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}
static void *two(void *arg)
{
    pthread_mutex_lock(&k);
    y++;
    pthread_mutex_unlock(&k);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
