//~ about: neighbouring bit-fields are one memory location, unless a field of no width parts them
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static struct {
    unsigned x : 3;
#ifdef FIXED
    unsigned : 0;
#endif
    unsigned y : 5;
} s;
static void *one(void *arg) { s.x = 1; return arg; }
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
