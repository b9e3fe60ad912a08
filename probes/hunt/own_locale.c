//~ about: uselocale is for the thread that calls it
//~ truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
static void *use(void *arg)
{
    locale_t mine = newlocale(LC_ALL_MASK, "C", 0);
    locale_t old = uselocale(mine);
    sched_yield();
    assert(uselocale(0) == mine && old != mine);
    uselocale(old);
    freelocale(mine);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(uselocale(0) == LC_GLOBAL_LOCALE);
    return 0;
}
