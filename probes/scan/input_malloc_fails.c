//~ about: two threads if there is no memory
//~ truth: race
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static int n;
static void *work(void *arg)
{
    n++;
    return arg;
}
static void race(void)
{
    pthread_t a, b;
    if (pthread_create(&a, 0, work, 0) == 0 && pthread_create(&b, 0, work, 0) == 0) {
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
}
int main(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv, (void)envp;
    void *p = malloc(16); if (!p) race(); free(p);
    return 0;
}
