//~ about: one variable with two names, by an assembler label
//~ truth: race
#include <pthread.h>
int first_name;
extern int second_name __asm__("first_name");
static void *one(void *arg) { first_name = 1; return arg; }
static void *two(void *arg) { second_name = 2; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
