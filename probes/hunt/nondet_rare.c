//~ about: the bug is there for one number of 65536 that comes from outside: whatever is claimed, it is not for all executions
//~ truth: assertion
//~ want: no-claim
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
static atomic_int n;
static void *add(void *arg)
{
    unsigned short v;
    getrandom(&v, sizeof v, 0);
    if (v == 4711) {
        int old = n;
        n = old + 1;
    } else {
        n++;
    }
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
