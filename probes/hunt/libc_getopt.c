//~ about: getopt keeps its place in global variables of the C library
//~ truth: assertion race crash
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static void *parse(void *arg)
{
    char *argv[] = {"p", "-a", "-b", "-c", 0};
    int n = 0;
    while (getopt(4, argv, "abc") != -1)
        n++;
    assert(n == 3);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, parse, 0);
    pthread_join(a, 0);
    optind = 1;
    pthread_create(&a, 0, parse, 0);
    optind = 1;
    pthread_join(a, 0);
    return 0;
}
