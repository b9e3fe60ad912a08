//~ about: a recursive lock whose owner is known by gettid
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int owner;
static int depth, n;
static void lock(void)
{
    int me = gettid(), none = 0;
    if (owner == me) {
        depth++;
        return;
    }
    while (!atomic_compare_exchange_weak(&owner, &none, me)) {
        none = 0;
        sched_yield();
    }
    depth = 1;
}
static void unlock(void)
{
    if (--depth == 0)
        owner = 0;
}
static void *add(void *arg)
{
    lock();
    lock();
    int v = n;
    n = v + 1;
    unlock();
    unlock();
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
