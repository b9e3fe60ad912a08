//~ about: a barrier is overwritten as soon as one thread has passed it; another one may not have left it
//~ revisions: bug fixed
//~[bug] truth: race misuse
//~[fixed] truth: clean
//~ cross: no
#include <pthread.h>
#include <string.h>
static pthread_barrier_t b;
static void *one(void *p)
{
    pthread_barrier_wait(&b);
    return p;
}
int main(void)
{
    pthread_t a;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&a, 0, one, 0);
    pthread_barrier_wait(&b);
#ifdef FIXED
    pthread_join(a, 0);
#endif
    memset(&b, 0, sizeof b);
#ifdef BUG
    pthread_join(a, 0);
#endif
    return 0;
}
