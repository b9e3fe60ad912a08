//~ about: a filter that the C library calls
//~ truth: race
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
static int n;
static int filter(const struct dirent *d)
{
    n++;
    return 0;
}
static void *work(void *arg)
{
    struct dirent **list;
    scandir("/", &list, filter, 0);
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
