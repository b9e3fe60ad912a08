//~ about: a structure passed by value among variable arguments is read by the call
//~ revisions: race locked
//~[race] truth: race
//~[locked] truth: clean
#include <pthread.h>
#include <stdarg.h>
static struct large {
    long part[8];
} shared;
static long result;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long first_of(int count, ...)
{
    va_list list;
    va_start(list, count);
    struct large own = va_arg(list, struct large);
    va_end(list);
    return own.part[0];
}
static void *work(void *arg)
{
    pthread_mutex_lock(&mutex);
    result = first_of(1, shared);
    pthread_mutex_unlock(&mutex);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    shared.part[7] = 5;
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    pthread_join(thread, 0);
    return 0;
}
