//~ about: double-checked locking with a plain pointer, or an atomic one
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct single { int value; };
#ifdef BUG
static struct single *instance;
#else
static _Atomic(struct single *) instance;
#endif
static struct single *get(void)
{
    struct single *p = instance;
    if (!p) {
        pthread_mutex_lock(&m);
        p = instance;
        if (!p) {
            p = malloc(sizeof *p);
            p->value = 7;
            instance = p;
        }
        pthread_mutex_unlock(&m);
    }
    return p;
}
static void *work(void *arg)
{
    volatile int v = get()->value;
    (void)v;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
