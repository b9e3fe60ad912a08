//~ about: memset of one byte more than its part
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <string.h>
static char a[32];
static void *one(void *arg)
{
#ifdef BUG
    memset(a, 0, 17);
#else
    memset(a, 0, 16);
#endif
    return arg;
}
static void *two(void *arg) { memset(a + 16, 1, 16); return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
