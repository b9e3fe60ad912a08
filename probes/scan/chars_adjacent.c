//~ about: neighbouring characters are memory locations of their own
//~ truth: clean
#include <pthread.h>
static char a[2];
static struct { char x, y; short z; } s;
static void *one(void *arg) { a[0] = 1; s.x = 1; s.z = 3; return arg; }
static void *two(void *arg) { a[1] = 2; s.y = 2; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
