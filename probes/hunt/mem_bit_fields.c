//~ about: neighbouring bit-fields are one memory location, unless one of no width is between them
//~ revisions: one two
//~[one] truth: race exit-status
//~[two] truth: clean
#include <pthread.h>
static struct {
    unsigned a : 5;
#ifdef TWO
    unsigned : 0;
#endif
    unsigned b : 5;
} s;
static void *set(void *arg)
{
    s.b = 3;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    s.a = 2;
    pthread_join(t, 0);
    return s.a + s.b - 5;
}
