//~ about: C11 threads: a recursive lock, a condition, thread-specific storage with a destructor
//~ revisions: racy ok
//~[racy] truth: race
//~[ok] truth: clean
#include <stdlib.h>
#include <threads.h>
static mtx_t m;
static cnd_t c;
static tss_t key;
static int n, ended;
static void destroy(void *p)
{
    free(p);
#ifdef OK
    mtx_lock(&m);
#endif
    ended++;
#ifdef OK
    mtx_unlock(&m);
#endif
}
static int work(void *arg)
{
    (void)arg;
    tss_set(key, malloc(4));
    mtx_lock(&m);
    mtx_lock(&m);
    n++;
    mtx_unlock(&m);
    cnd_signal(&c);
    mtx_unlock(&m);
    return 0;
}
int main(void)
{
    thrd_t a, b;
    mtx_init(&m, mtx_plain | mtx_recursive);
    cnd_init(&c);
    tss_create(&key, destroy);
    thrd_create(&a, work, 0);
    thrd_create(&b, work, 0);
    mtx_lock(&m);
    while (n < 2)
        cnd_wait(&c, &m);
    mtx_unlock(&m);
    thrd_join(a, 0);
    thrd_join(b, 0);
    return 0;
}
