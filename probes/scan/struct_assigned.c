//~ about: a whole structure is assigned while another thread sets one of its fields
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static struct s { int x; char c; int y; } s, t;
static void *one(void *arg)
{
#ifdef BUG
    s = t;
#else
    s.x = t.x;
    s.c = t.c;
#endif
    return arg;
}
static void *two(void *arg) { s.y = 2; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
