//~ about: functions that convert to local time use the time zone, which another thread can set
//~ revisions: convert format
//~ truth: assertion
//~ preemptions: 1
//~ want: found
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static int hour(void)
{
    time_t moment = 86400;
    struct tm parts;
    localtime_r(&moment, &parts);
#ifdef CONVERT
    return parts.tm_hour;
#else
    char name[16];
    strftime(name, sizeof name, "%H", &parts);
    return atoi(name);
#endif
}
static void *twice(void *arg)
{
    int first = hour();
    assert(hour() == first);
    return arg;
}
static void *set(void *arg)
{
    tzset();
    return arg;
}
int main(void)
{
    pthread_t one, two;
    setenv("TZ", "UTC0", 1);
    tzset();
    setenv("TZ", "EST5", 1);
    pthread_create(&one, 0, twice, 0);
    pthread_create(&two, 0, set, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
