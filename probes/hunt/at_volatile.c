//~ about: a volatile variable orders nothing
//~ revisions: volatile atomic
//~[volatile] truth: race
//~[atomic] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static int data;
#ifdef VOLATILE
static volatile int flag;
#else
static atomic_int flag;
#endif
static void *publish(void *arg)
{
    data = 1;
    flag = 1;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, publish, 0);
    if (flag)
        data++;
    pthread_join(t, 0);
    return 0;
}
