//~ about: a flag that is raised twice: who sees it does not know for the second time
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static int x, y;
static void *give(void *arg)
{
    x = 1;
    flag = 1;
    y = 1;
    flag = 2;
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, give, 0);
#ifdef BUG
    if (flag) {
#else
    if (flag == 2) {
#endif
        x = 2;
        y = 2;
    }
    pthread_join(a, 0);
    return 0;
}
