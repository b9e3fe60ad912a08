//~ about: pthread_once for the writer, and a reader who does not call it
//~ truth: race
#include <pthread.h>
static pthread_once_t o = PTHREAD_ONCE_INIT;
static int data;
static void init(void) { data = 1; }
static void *one(void *arg) { pthread_once(&o, init); return arg; }
static void *two(void *arg) { volatile int d = data; (void)d; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
