//~ about: a mutex is given back by a thread that does not have it, so that two others are in their sections
//~ revisions: bug fixed
//~[bug] truth: race misuse
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *add(void *p)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return p;
}
static void *give(void *p)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_create(&c, 0, give, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
