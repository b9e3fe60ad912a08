//~ about: the name of the program, by argv and by a variable of the C library
//~ truth: race
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
static char *name;
static void *one(void *arg)
{
    name[0] = 'A';
    return arg;
}
static void *two(void *arg)
{
    program_invocation_name[0] = 'B';
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    name = argv[0];
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
