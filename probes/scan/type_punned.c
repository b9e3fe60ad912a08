//~ about: the same memory by two types
//~ truth: race
#include <pthread.h>
static union { long l; char c[8]; } u;
static void *one(void *arg) { u.l = 1; return arg; }
static void *two(void *arg) { u.c[5] = 2; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
