//~ about: temporary files have names of their own
//~ truth: clean
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char one[] = "./tXXXXXX", other[] = "./tXXXXXX";
static void *first(void *arg)
{
    (void)arg;
    assert(mkstemp(one) >= 0);
    return 0;
}
static void *second(void *arg)
{
    (void)arg;
    assert(mkstemp(other) >= 0);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(strcmp(one, other) != 0);
    return 0;
}
