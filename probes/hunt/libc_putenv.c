//~ about: the environment is one for the process: unsetenv between the check and the use
//~ truth: race crash assertion
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *use(void *arg)
{
    if (getenv("PROBE_KEY"))
        if (strcmp(getenv("PROBE_KEY"), "v"))
            abort();
    return arg;
}
static void *drop(void *arg)
{
    unsetenv("PROBE_KEY");
    return arg;
}
int main(void)
{
    pthread_t a, b;
    setenv("PROBE_KEY", "v", 1);
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, drop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
