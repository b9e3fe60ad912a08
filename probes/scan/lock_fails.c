//~ about: a lock that could not be taken is reported, and the program continues without it
//~ revisions: bug fixed
//~[bug] truth: race
//~[bug] must-not: proved
//~[fixed] truth: clean
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *one(void *p)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return p;
}
static void *other(void *p)
{
    if (pthread_mutex_lock(&m) != 0) {
        puts("no lock");
#ifdef BUG
        x++;
#endif
        return p;
    }
    x++;
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
