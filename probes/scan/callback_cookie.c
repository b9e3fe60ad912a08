//~ about: a stream whose functions are ours
//~ truth: race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static long total;
static ssize_t put(void *c, const char *b, size_t n)
{
    total += (long)n;
    return (ssize_t)n;
}
static void *work(void *arg)
{
    FILE *f = fopencookie(0, "w", (cookie_io_functions_t){.write = put});
    if (f) {
        fputs("text", f);
        fclose(f);
    }
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
