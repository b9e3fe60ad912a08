//~ about: the handle of a thread that has ended, kept as the owner of something: a new thread has the same
//~ truth: assertion
//~ unless-assumes: handle reuse reused
#include <assert.h>
#include <pthread.h>
static pthread_t owner;
static int owned;
static void *take(void *arg)
{
    owner = pthread_self();
    owned = 1;
    return arg;
}
static void *other(void *arg)
{
    assert(!(owned && pthread_equal(owner, pthread_self())));
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, take, 0);
    pthread_join(a, 0);
    pthread_create(&a, 0, other, 0);
    pthread_join(a, 0);
    return 0;
}
