//~ about: a function with two names, one of which is the thread's
//~ truth: race
#include <pthread.h>
static int n;
void *work(void *arg) { n++; return arg; }
void *other(void *arg) __attribute__((alias("work")));
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
