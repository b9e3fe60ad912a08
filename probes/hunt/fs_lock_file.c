//~ about: a lock file keeps threads apart
//~ revisions: bug fixed
//~[bug] truth: data-race
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
#include <sched.h>
 
static int value;
static void *add(void *arg)
{
    (void)arg;
#ifndef BUG
    while (open("lock", O_CREAT | O_EXCL | O_WRONLY, 0600) < 0)
        sched_yield();
#endif
    value++;
#ifndef BUG
    unlink("lock");
#endif
    return 0;
}
#define first add
#define second add
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
