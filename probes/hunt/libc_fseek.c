//~ about: fseek and fgetc are each protected by the stream's lock, and not together
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static FILE *f;
static void *at(void *arg)
{
    long i = (long)arg;
#ifdef FIXED
    flockfile(f);
#endif
    fseek(f, i, SEEK_SET);
    int c = fgetc(f);
#ifdef FIXED
    funlockfile(f);
#endif
    assert(c == 'a' + i);
    return 0;
}
int main(void)
{
    f = tmpfile();
    fputs("abcdefgh", f);
    pthread_t a, b;
    pthread_create(&a, 0, at, (void *)1);
    pthread_create(&b, 0, at, (void *)5);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
