//~ about: memcpy, memmove and memset of neighbouring and of overlapping pieces
//~ revisions: beside read overlap
//~[beside] truth: clean
//~[read] truth: clean
//~[overlap] truth: race
#include <pthread.h>
#include <string.h>
static char from[64], to[64];
static void *second(void *arg)
{
#ifdef OVERLAP
    memmove(to + 30, from, 34);
#elif defined READ
    memcpy(to + 32, from + 3, 32);
#else
    memset(to + 32, 1, 32);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, second, 0);
    memcpy(to, from, 32);
    pthread_join(t, 0);
    return 0;
}
