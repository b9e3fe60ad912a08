//~ about: only the third element is written without the lock, by the instruction that writes all others with it
//~ revisions: watchpoint bounded default
//~[watchpoint] options: --analysis watchpoint --detector none
//~[bounded] options: --analysis watchpoint-bound --detector none
//~ truth: race
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a[4];
static void *work(void *arg)
{
    for (int i = 0; i < 4; i++) {
        if (i != 2)
            pthread_mutex_lock(&m);
        a[i]++;
        if (i != 2)
            pthread_mutex_unlock(&m);
    }
    return arg;
}
int main(void)
{
    pthread_t x, y;
    pthread_create(&x, 0, work, 0);
    pthread_create(&y, 0, work, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
