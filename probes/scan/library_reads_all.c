//~ about: functions of the C library read the structures they are given, all of each
//~ command: scan
//~ revisions: month hints option fixed
//~ truth: race
//~[fixed] truth: clean
//~ cross: no
#define _GNU_SOURCE
#include <getopt.h>
#include <netdb.h>
#include <pthread.h>
#include <time.h>
static struct tm when;
static struct addrinfo hints;
static struct option options[2] = {{"size", 0, 0, 's'}};
static void *work(void *unused)
{
#if defined MONTH
    when.tm_mon = 1;
#elif defined HINTS
    hints.ai_protocol = 6;
#elif defined OPTION
    options[0].val = 't';
#endif
    return unused;
}
int main(int count, char **arguments)
{
    pthread_t thread;
    struct addrinfo *found;
    pthread_create(&thread, 0, work, 0);
#ifdef FIXED
    pthread_join(thread, 0);
#endif
#if defined MONTH || defined FIXED
    (void)asctime(&when);
#elif defined HINTS
    (void)getaddrinfo("localhost", 0, &hints, &found);
#elif defined OPTION
    (void)getopt_long(count, arguments, "", options, 0);
#endif
#ifndef FIXED
    pthread_join(thread, 0);
#endif
    return 0;
}
