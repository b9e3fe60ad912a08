//~ about: a stream writes to memory that it was given when it was made
//~ revisions: buffer opened grows
//~ truth: race assertion
//~ want: no-claim
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static char memory[64];
static char *text;
static size_t size;
static FILE *stream;
static volatile long seen;
static void *put(void *arg)
{
    fputs("hello", stream);
    fflush(stream);
    return arg;
}
static void *look(void *arg)
{
#ifdef GROWS
    seen = (long)size;
#else
    seen = memory[0];
#endif
    return arg;
}
int main(void)
{
    pthread_t one, two;
#ifdef BUFFER
    stream = fopen("/dev/null", "w");
    setvbuf(stream, memory, _IOFBF, sizeof memory);
#elif defined OPENED
    stream = fmemopen(memory, sizeof memory, "w");
#else
    stream = open_memstream(&text, &size);
    fflush(stream);
#endif
    pthread_create(&one, 0, put, 0);
    pthread_create(&two, 0, look, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
