//~ about: a stream that one thread closes and another one uses; streams that are used without their lock
//~ revisions: puts character number unlocked unread fixed
//~ truth: data-race use-after-free crash
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static FILE *stream;
static void *work(void *p)
{
#if defined PUTS
    fputs("x", stream);
#elif defined CHARACTER
    fgetc(stream);
#elif defined NUMBER
    fileno(stream);
#elif defined UNLOCKED
    putc_unlocked('x', stream);
#elif defined UNREAD
    getc_unlocked(stream);
#else
    fputs("x", stream);
#endif
    return p;
}
int main(void)
{
    pthread_t thread;
    stream = tmpfile();
    if (!stream) return 0;
    pthread_create(&thread, 0, work, 0);
#if defined UNLOCKED || defined UNREAD
    work(0);
#elif !defined FIXED
    fclose(stream);
#endif
    pthread_join(thread, 0);
#ifdef FIXED
    fclose(stream);
#endif
    return 0;
}
