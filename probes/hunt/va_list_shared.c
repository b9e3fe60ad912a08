//~ about: a va_list that one thread copies while another one advances it
//~ truth: data-race
#include <pthread.h>
#include <stdarg.h>
static va_list *list;
static volatile int seen;
static void *work(void *p)
{
    va_list copy;
    va_copy(copy, *list);
    seen = va_arg(copy, int);
    va_end(copy);
    return p;
}
static void run(int count, ...)
{
    va_list arguments;
    pthread_t thread;
    va_start(arguments, count);
    list = &arguments;
    pthread_create(&thread, 0, work, 0);
    seen = va_arg(arguments, int);
    pthread_join(thread, 0);
    va_end(arguments);
}
int main(void)
{
    run(2, 1, 2);
    return 0;
}
