//~ about: what kind of mutex it is depends on the arguments
//~ truth: race
#include <pthread.h>
static pthread_mutex_t m;
static int n;
static void *work(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    pthread_mutexattr_t t;
    pthread_mutexattr_init(&t);
    pthread_mutexattr_settype(&t, argc > 5 ? PTHREAD_MUTEX_ERRORCHECK : PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &t);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
