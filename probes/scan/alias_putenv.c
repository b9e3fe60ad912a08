//~ about: putenv makes a variable of ours part of the environment
//~ truth: race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static char setting[] = "PROBE_MODE=fast";
static void *one(void *arg)
{
    setting[11] = 's';
    return arg;
}
static void *two(void *arg)
{
    char *p = getenv("PROBE_MODE");
    if (p)
        p[0] = 'x';
    return arg;
}
int main(void)
{
    pthread_t a, b;
    putenv(setting);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
