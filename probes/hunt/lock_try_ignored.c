//~ about: a lock that is tried, whose result is ignored
//~ revisions: ignored looks backs
//~[ignored] truth: race misuse
//~[looks] truth: clean
//~[backs] truth: clean
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *arg)
{
#ifdef IGNORED
    pthread_mutex_trylock(&m);
    n++;
    pthread_mutex_unlock(&m);
#elif defined LOOKS
    if (!pthread_mutex_trylock(&m)) {
        n++;
        pthread_mutex_unlock(&m);
    }
#else
    while (pthread_mutex_trylock(&m))
        sched_yield();
    n++;
    pthread_mutex_unlock(&m);
#endif
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
