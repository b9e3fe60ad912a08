//~ about: the work of a thread that could not be created is done by the creator, beside the other one
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
static void *other(void *arg) { return arg; }
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
    pthread_t a, b;
    if (pthread_create(&a, 0, work, 0))
        return 1;
    int failed = pthread_create(&b, 0, other, 0);
    if (failed)
        work(0); // beside a
    else
        pthread_join(b, 0);
    pthread_join(a, 0);
    return 0;
}
