//~ about: the linker is told that the functions of a mutex are others, which do nothing
//~ revisions: bug fixed
//~[bug] truth: race
//~[bug] flags: -Wl,--wrap=pthread_mutex_lock -Wl,--wrap=pthread_mutex_unlock
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared;
int __wrap_pthread_mutex_lock(pthread_mutex_t *unused) { return unused == 0; }
int __wrap_pthread_mutex_unlock(pthread_mutex_t *unused) { return unused == 0; }
static void *work(void *arg)
{
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
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
