//~ about: an atomic variable that is read and written in two steps
//~ revisions: two one
//~[two] truth: assertion
//~[one] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_long n;
static void *add(void *arg)
{
#ifdef TWO
    n = n + 1;
#else
    n += 1;
#endif
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
