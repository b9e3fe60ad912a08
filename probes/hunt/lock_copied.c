//~ about: a lock that is copied while it is held: the copy is held too, and no thread will release it
//~ revisions: mutex structure rwlock spin free
//~ truth: deadlock misuse
//~[free] truth: any
//~ want: no-claim
#include <pthread.h>
#include <string.h>
#if defined RWLOCK
typedef pthread_rwlock_t lock_type;
#define LOCK(l) pthread_rwlock_wrlock(l)
#define UNLOCK(l) pthread_rwlock_unlock(l)
#define INIT(l) pthread_rwlock_init(l, NULL)
#elif defined SPIN
typedef pthread_spinlock_t lock_type;
#define LOCK(l) pthread_spin_lock(l)
#define UNLOCK(l) pthread_spin_unlock(l)
#define INIT(l) pthread_spin_init(l, 0)
#else
typedef pthread_mutex_t lock_type;
#define LOCK(l) pthread_mutex_lock(l)
#define UNLOCK(l) pthread_mutex_unlock(l)
#define INIT(l) pthread_mutex_init(l, NULL)
#endif
static struct queue {
    lock_type lock;
    int length;
} first, second;
static void *work(void *arg)
{
    LOCK(&second.lock);
    second.length++;
    UNLOCK(&second.lock);
    return arg;
}
int main(void)
{
    pthread_t thread;
    INIT(&first.lock);
#if !defined FREE
    LOCK(&first.lock);
#endif
#if defined STRUCTURE
    second = first;
#else
    memcpy(&second, &first, sizeof first);
#endif
#if !defined FREE
    UNLOCK(&first.lock);
#endif
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
