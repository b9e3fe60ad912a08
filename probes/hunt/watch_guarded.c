//~ about: the race is behind a value that only one order of two threads leaves
//~ revisions: watchpoint bounded default
//~[watchpoint] options: --analysis watchpoint --detector none
//~[bounded] options: --analysis watchpoint-bound --detector none
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
static atomic_int turn;
static int data;
static void *first(void *arg)
{
    turn = 1;
    data = 1;
    return arg;
}
static void *second(void *arg)
{
    if (turn == 0)
        data = 2;
    return arg;
}
int main(void)
{
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
