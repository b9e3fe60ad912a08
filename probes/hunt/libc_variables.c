//~ about: variables of the C library that its functions read and write
//~ revisions: setenv putenv unsetenv timezone tzname optarg stdout
//~ truth: data-race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile long seen;
static void *change(void *p)
{
#if defined SETENV
    setenv("A_NEW_ONE", "1", 1);
#elif defined PUTENV
    putenv("ANOTHER=1");
#elif defined UNSETENV
    unsetenv("PATH");
#elif defined TIMEZONE || defined TZNAME
    tzset();
#elif defined OPTARG
    char *words[] = {"program", "-a", "word", 0};
    getopt(3, words, "a:");
#else
    stdout = stderr;
#endif
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, change, 0);
#if defined SETENV || defined PUTENV
    seen = (long)environ;
#elif defined UNSETENV
    seen = (long)environ[0];
#elif defined TIMEZONE
    seen = timezone;
#elif defined TZNAME
    seen = (long)tzname[0];
#elif defined OPTARG
    seen = (long)optarg;
#else
    printf("hello\n");
#endif
    pthread_join(thread, 0);
    return 0;
}
