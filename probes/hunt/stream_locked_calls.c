//~ about: a function that takes the lock of the stream itself, beside functions without a lock of their own, under the lock of the stream or not
//~ revisions: bug fixed nested other
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
//~[nested] truth: clean
//~[other] truth: race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static FILE *out;
static FILE *other_file;

static void *whole(void *text)
{
    fputs(text, out);
    return 0;
}

static void *parts(void *text)
{
#ifdef BUG
    fputs_unlocked(text, out);
    fflush_unlocked(out);
#elif defined OTHER
    /* The lock of another stream. */
    flockfile(other_file);
    fputs_unlocked(text, out);
    funlockfile(other_file);
#elif defined NESTED
    flockfile(out);
    flockfile(out);
    fputs_unlocked(text, out);
    funlockfile(out);
    fflush_unlocked(out);
    fputs(text, out);
    funlockfile(out);
#else
    if (ftrylockfile(out) == 0) {
        fputs_unlocked(text, out);
        fflush_unlocked(out);
        funlockfile(out);
    }
#endif
    return 0;
}

int main(void)
{
    pthread_t one, another;
    out = tmpfile();
    other_file = tmpfile();
    pthread_create(&one, 0, whole, "one");
    pthread_create(&another, 0, parts, "another");
    pthread_join(one, 0);
    pthread_join(another, 0);
    fclose(out);
    fclose(other_file);
    return 0;
}
