//~ about: leaves a file that no second run could bear
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
static int value;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    value++;
    pthread_mutex_unlock(&m);
    return 0;
}
#define first add
#define second add
int main(void)
{
    int fd = open("left", O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert(fd >= 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(value == 2);
    return 0;
}
