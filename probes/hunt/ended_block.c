//~ about: a local variable whose block ends while its function runs, used by another thread
//~ revisions: after concurrent mutex atomic array before_threads unordered_return waited again
//~ truth: crash deadlock assertion use-after-free race
//~[waited] truth: clean
//~[again] truth: clean
//~ want: no-claim
//~[waited] want: proved
//~[again] want: proved
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
static sem_t published, done;
#if defined MUTEX
typedef pthread_mutex_t object;
#define INIT(o) pthread_mutex_init(o, NULL)
#define USE(o) pthread_mutex_lock(o), pthread_mutex_unlock(o)
#elif defined ATOMIC
typedef atomic_int object;
#define INIT(o) atomic_init(o, 0)
#define USE(o) atomic_fetch_add(o, 1)
#elif defined ARRAY
typedef struct {
    int part[16];
} object;
#define INIT(o) ((o)->part[0] = 1)
#define USE(o) ((o)->part[15] = 2)
#else
typedef int object;
#define INIT(o) (*(o) = 1)
#define USE(o) (*(o) = 2)
#endif
static object *_Atomic shared;
static _Atomic(int *) other;
static __attribute__((noinline)) void keep(int *variable)
{
    other = variable;
}
static __attribute__((noinline)) void publish(object *local)
{
    INIT(local);
    shared = local;
}
#if defined UNORDERED_RETURN
// The other thread may be late: nothing orders its access before the return.
static __attribute__((noinline)) void function(void)
{
    object local;
    publish(&local);
    sem_post(&published);
}
#endif
static void *work(void *arg)
{
#if defined BEFORE_THREADS
    USE(shared);
    return arg;
#elif defined UNORDERED_RETURN
    function();
#elif defined AGAIN
    for (int round = 0; round < 2; round++) {
        object local;
        publish(&local);
        sem_post(&published);
        sem_wait(&done);
    }
    return arg;
#else
    {
        object local;
        publish(&local);
#if defined CONCURRENT
        sem_post(&published);
#elif defined WAITED
        sem_post(&published);
        sem_wait(&done);
#endif
    }
#if !defined CONCURRENT && !defined WAITED
    sem_post(&published);
#endif
#endif
    {
        int more[4] = {5, 6, 7, 8};
        keep(more);
#if !defined WAITED
        sem_wait(&done);
#endif
        return more[0] == 5 ? arg : NULL;
    }
}
int main(void)
{
    pthread_t thread;
    sem_init(&published, 0, 0);
    sem_init(&done, 0, 0);
#if defined BEFORE_THREADS
    {
        object local;
        publish(&local);
    }
#endif
    pthread_create(&thread, NULL, work, NULL);
#if !defined BEFORE_THREADS
    sem_wait(&published);
    USE(shared);
    sem_post(&done);
#endif
#if defined AGAIN
    sem_wait(&published);
    USE(shared);
    sem_post(&done);
#endif
    pthread_join(thread, NULL);
    return 0;
}
