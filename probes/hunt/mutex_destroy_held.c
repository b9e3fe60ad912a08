//~ about: a mutex is destroyed while another thread may hold it
//~ cross: no
//~ truth: misuse assertion race
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *hold(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, hold, 0);
    pthread_mutex_destroy(&m);
    pthread_join(a, 0);
    return 0;
}
