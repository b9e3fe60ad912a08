//~ about: what localtime returns is the same memory for all threads
//~ truth: race
#include <pthread.h>
#include <time.h>
static void *work(void *arg)
{
    time_t t = 0;
    struct tm *p = localtime(&t);
    if (p)
        p->tm_hour = 1;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
