//~ about: one variable with two names, by an alias
//~ truth: race
#include <pthread.h>
int x;
extern int y __attribute__((alias("x")));
static void *one(void *arg) { x = 1; return arg; }
static void *two(void *arg) { y = 2; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
