//~ about: a static variable that is never set is zero, so there are no threads
//~ truth: clean
#include <pthread.h>
static int n, parallel;
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(void)
{
    if (parallel) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
