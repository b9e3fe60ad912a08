//~ about: a flag that is not zero at first
//~ truth: race
#include <pthread.h>
static int flag = 1, data;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *give(void *arg)
{
    data = 1;
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, give, 0);
    pthread_mutex_lock(&m);
    int seen = flag;
    pthread_mutex_unlock(&m);
    if (seen)
        data = 2;
    pthread_join(a, 0);
    return 0;
}
