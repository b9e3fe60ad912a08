//~ about: a reader-writer lock that prefers writers, taken for reading again while a writer waits
//~ revisions: lock try timed default once
//~[lock] truth: deadlock
//~[try] truth: assertion
//~[timed] truth: assertion
//~[default] truth: any
//~[once] truth: clean
//~[lock] want: found
//~[try] want: found
//~[timed] want: found
//~[once] want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <time.h>
#if defined DEFAULT
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#else
static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#endif
static void *writer(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_rwlock_rdlock(&lock);
    pthread_create(&thread, NULL, writer, NULL);
#if defined TRY
    assert(pthread_rwlock_tryrdlock(&lock) == 0);
    pthread_rwlock_unlock(&lock);
#elif defined TIMED
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    assert(pthread_rwlock_timedrdlock(&lock, &soon) == 0);
    pthread_rwlock_unlock(&lock);
#elif !defined ONCE
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
#endif
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
