//~ about: pthread_once by every reader
//~ truth: clean
#include <pthread.h>
static pthread_once_t o = PTHREAD_ONCE_INIT;
static int data;
static void init(void) { data = 1; }
static void *work(void *arg)
{
    pthread_once(&o, init);
    volatile int d = data;
    (void)d;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
