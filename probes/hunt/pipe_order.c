//~ about: two threads write to a pipe, and the reader believes to know who was first
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 0
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int p[2];
static void *say(void *arg)
{
    char c = (char)(long)arg;
    write(p[1], &c, 1);
    return 0;
}
int main(void)
{
    pipe(p);
    pthread_t a, b;
    pthread_create(&a, 0, say, (void *)'a');
    pthread_create(&b, 0, say, (void *)'b');
    char got[2];
    read(p[0], &got[0], 1);
    read(p[0], &got[1], 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
#ifdef BUG
    assert(got[0] == 'a');
#else
    assert(got[0] + got[1] == 'a' + 'b');
#endif
    return 0;
}
