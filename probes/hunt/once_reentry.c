//~ about: the function of pthread_once calls pthread_once again
//~ truth: deadlock misuse
//~ must-not: proved exit-0
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void)
{
    pthread_once(&once, init);
}
static void *work(void *arg)
{
    pthread_once(&once, init);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
