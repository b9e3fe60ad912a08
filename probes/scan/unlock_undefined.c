//~ about: what is given back is whatever an uninitialised pointer leads to
//~ truth: any
//~ must-not: proved
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *one(void *p)
{
    pthread_mutex_t *which;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(which);
    x++;
    return p;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, one, 0);
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return 0;
}
