//~ about: a thread that can be cancelled anywhere is cancelled at any moment, its end included
//~ truth: clean
//~ want: proved
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int steps;
static void *work(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (int i = 0; i < 3; i++)
        steps++;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return 0;
}
