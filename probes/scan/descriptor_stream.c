//~ about: a stream is closed while another thread uses its descriptor, or after that
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~ cross: no
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static FILE *stream;
static int number;
static void *user(void *arg)
{
    if (write(number, "x", 1) < 0)
        return 0;
    return arg;
}
static void *closer(void *arg)
{
    fclose(stream);
    return arg;
}
int main(void)
{
    pthread_t one, two;
    stream = fopen("/dev/null", "w");
    if (!stream)
        return 1;
    number = fileno(stream);
    pthread_create(&one, 0, user, 0);
#ifndef BUG
    pthread_join(one, 0);
#endif
    pthread_create(&two, 0, closer, 0);
#ifdef BUG
    pthread_join(one, 0);
#endif
    pthread_join(two, 0);
    return 0;
}
