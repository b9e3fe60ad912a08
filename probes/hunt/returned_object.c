//~ about: locks and atomics in a local variable of a function that has returned, used by another thread
//~ revisions: mutex semaphore condition rwlock atomic lasting
//~ truth: crash deadlock assertion
//~[lasting] truth: clean
//~ want: no-claim
//~[lasting] want: proved
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
static sem_t published, done;
#if defined MUTEX
typedef pthread_mutex_t object;
#define INIT(o) pthread_mutex_init(o, NULL)
#define USE(o) pthread_mutex_lock(o), pthread_mutex_unlock(o)
#elif defined SEMAPHORE || defined LASTING
typedef sem_t object;
#define INIT(o) sem_init(o, 0, 0)
#define USE(o) sem_post(o)
#elif defined CONDITION
typedef pthread_cond_t object;
#define INIT(o) pthread_cond_init(o, NULL)
#define USE(o) pthread_cond_signal(o)
#elif defined RWLOCK
typedef pthread_rwlock_t object;
#define INIT(o) pthread_rwlock_init(o, NULL)
#define USE(o) pthread_rwlock_rdlock(o), pthread_rwlock_unlock(o)
#else
typedef atomic_int object;
#define INIT(o) atomic_init(o, 0)
#define USE(o) atomic_fetch_add(o, 1)
#endif
static object *_Atomic shared;
static __attribute__((noinline)) void publish(void)
{
#ifdef LASTING
    static
#endif
    object local;
    INIT(&local);
    shared = &local;
}
static void *work(void *arg)
{
    publish();
    sem_post(&published);
    sem_wait(&done);
    return arg;
}
int main(void)
{
    pthread_t thread;
    sem_init(&published, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&published);
    USE(shared);
    sem_post(&done);
    pthread_join(thread, NULL);
    return 0;
}
