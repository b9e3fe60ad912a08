//~ about: mutexes with priority inheritance and a stalled, and one that is process-shared in shared memory
//~ revisions: inherit stalled shared racy
//~[inherit] truth: clean
//~[stalled] truth: clean
//~[shared] truth: clean
//~[racy] truth: race
#include <pthread.h>
#include <sys/mman.h>
struct all {
    pthread_mutex_t m;
    int n;
};
static struct all *all;
static void *work(void *arg)
{
    pthread_mutex_lock(&all->m);
    all->n++;
    pthread_mutex_unlock(&all->m);
#ifdef RACY
    all->n++;
#endif
    return arg;
}
int main(void)
{
    pthread_mutexattr_t how;
    pthread_t a, b;
    all = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&how);
#ifdef INHERIT
    pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
#elif defined STALLED
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_STALLED);
#else
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
#endif
    pthread_mutex_init(&all->m, &how);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
