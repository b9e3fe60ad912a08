//~ about: what getenv returns is the same memory for all threads
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
static void *work(void *arg)
{
    char *p = getenv("PATH");
    if (p)
        p[0] = '/';
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
