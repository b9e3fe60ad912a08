//~ about: strsep writes to the text and to the pointer that it is given
//~ truth: race assertion crash
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
static char text[] = "a b c d e f";
static char *rest = text;
static void *next(void *arg)
{
    char *t = strsep(&rest, " ");
    (void)t;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, next, 0);
    pthread_create(&b, 0, next, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
