//~ about: the program has functions that are called as those of POSIX, and do nothing
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <stdlib.h>
#include <threads.h>
static int n;
#ifdef BUG
int spin_lock(int *l) { return *l; }
int spin_unlock(int *l) { return *l; }
static int lk;
#define LOCK spin_lock(&lk)
#define UNLOCK spin_unlock(&lk)
#else
static mtx_t lk;
#define LOCK mtx_lock(&lk)
#define UNLOCK mtx_unlock(&lk)
#endif
static int work(void *arg)
{
    LOCK;
    n++;
    UNLOCK;
    return 0;
}
int main(void)
{
    thrd_t a, b;
#ifdef FIXED
    mtx_init(&lk, mtx_plain);
#endif
    thrd_create(&a, work, 0);
    thrd_create(&b, work, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    return 0;
}
