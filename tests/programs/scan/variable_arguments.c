// verdict: race C
#include <pthread.h>
#include <stdarg.h>

int x, y;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void add_to(int count, ...) {
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        ++*va_arg(list, int *);
    va_end(list);
}

void *thread(void *argument) {
    add_to(2, &x, &y);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
