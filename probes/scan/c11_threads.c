//~ about: threads and mutexes of C11; a plain mutex and one that is timed
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <threads.h>
static mtx_t m;
static int n;
static int work(void *arg)
{
    mtx_lock(&m);
    n++;
    mtx_unlock(&m);
#ifdef BUG
    n++;
#endif
    return 0;
}
int main(void)
{
    thrd_t a, b;
    mtx_init(&m, mtx_plain);
    thrd_create(&a, work, 0);
    thrd_create(&b, work, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    mtx_destroy(&m);
    return 0;
}
