//~ about: the expected value is not set back: after a failure it is 1, and 1 becomes 1
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lk;
static int n;
static void *work(void *arg)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&lk, &expected, 1)) {
#ifdef FIXED
        expected = 0;
#endif
    }
    n++;
    atomic_store(&lk, 0);
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
