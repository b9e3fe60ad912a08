/* Changes what it is given, calls back, and starts threads. */
#include <pthread.h>
void add_to(int *p)
{
    int v = *p;
    for (volatile int i = 0; i < 100; i++)
        ;
    *p = v + 1;
}
static int own;
int own_value(void) { return own; }
static void *run(void *arg) { add_to(&own); return arg; }
int start(pthread_t *t) { return pthread_create(t, 0, run, 0); }
void each(int n, void (*f)(int)) { for (int i = 0; i < n; i++) f(i); }
