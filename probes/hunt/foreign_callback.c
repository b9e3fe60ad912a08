//~ about: foreign code calls back into ours: with and without a lock there
//~ revisions: bug fixed
//~ with: foreign/by_pointer.c gcc-object
//~[bug] truth: race assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
void each(int n, void (*f)(int));
static int total;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void visit(int i)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    total += i;
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
}
static void *walk(void *arg)
{
    each(3, visit);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, walk, 0);
    pthread_create(&b, 0, walk, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(total == 6);
    return 0;
}
