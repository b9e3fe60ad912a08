//~ about: two threads write characters without a lock of their own, under the lock of the stream
//~ truth: clean
#include <pthread.h>
#include <stdio.h>

static FILE *out;

static void *print(void *text)
{
    flockfile(out);
    for (const char *at = text; *at; at++)
        putc_unlocked(*at, out);
    funlockfile(out);
    if (ftrylockfile(out) == 0) {
        putc_unlocked('\n', out);
        funlockfile(out);
    }
    return 0;
}

int main(void)
{
    pthread_t one, other;
    out = tmpfile();
    pthread_create(&one, 0, print, "one");
    pthread_create(&other, 0, print, "other");
    pthread_join(one, 0);
    pthread_join(other, 0);
    fclose(out);
    return 0;
}
