//~ about: rand has a lock inside the GNU C library: no race; but which thread draws which number depends on the schedule
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] want: found
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int drawn;
static void *draw(void *arg)
{
    int first = rand();
#ifdef BUG
    int second = rand();
    (void)first;
    drawn = second;
#else
    drawn = first >= 0;
#endif
    return arg;
}
static void *disturb(void *arg)
{
    rand();
    return arg;
}
int main(void)
{
    pthread_t a, b;
    srand(1);
    rand();
    int expected = rand();
    srand(1);
    pthread_create(&a, 0, draw, 0);
    pthread_create(&b, 0, disturb, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
#ifdef BUG
    assert(drawn == expected);
#else
    (void)expected;
    assert(drawn);
#endif
    return 0;
}
