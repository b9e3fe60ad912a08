//~ about: both want to be the one that makes the directory
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[fixed] truth: clean
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
static void *make(void *arg)
{
    (void)arg;
    int result = mkdir("cache", 0700);
#ifdef BUG
    assert(result == 0);
#else
    assert(result == 0 || errno == EEXIST);
#endif
    return 0;
}
#define first make
#define second make
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
