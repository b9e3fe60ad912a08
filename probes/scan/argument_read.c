//~ about: functions for locks and threads read a deadline or attributes, which another thread changes or frees
//~ revisions: mutex_deadline read_deadline write_deadline thread_attributes freed_attributes mutex_attributes condition_attributes fixed
//~ truth: race use-after-free
//~[fixed] truth: clean
//~ command: scan
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, fresh;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition;
static struct timespec deadline = {1, 0};
static pthread_attr_t attributes, *given;
static pthread_mutexattr_t of_mutex;
static pthread_condattr_t of_condition;

static void *nothing(void *unused)
{
    return unused;
}

static void *change(void *unused)
{
#if defined MUTEX_DEADLINE || defined READ_DEADLINE || defined WRITE_DEADLINE
    deadline.tv_sec += 5;
#elif defined THREAD_ATTRIBUTES
    pthread_attr_setstacksize(&attributes, 1 << 20);
#elif defined FREED_ATTRIBUTES
    free(given);
#elif defined MUTEX_ATTRIBUTES
    pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_RECURSIVE);
#elif defined CONDITION_ATTRIBUTES
    pthread_condattr_setclock(&of_condition, CLOCK_MONOTONIC);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread, other;
    pthread_attr_init(&attributes);
    pthread_mutexattr_init(&of_mutex);
    pthread_condattr_init(&of_condition);
    given = malloc(sizeof *given);
    pthread_attr_init(given);
    pthread_create(&thread, 0, change, 0);
#if defined MUTEX_DEADLINE || defined FIXED
    if (pthread_mutex_timedlock(&lock, &deadline) == 0)
        pthread_mutex_unlock(&lock);
#endif
#if defined READ_DEADLINE || defined FIXED
    if (pthread_rwlock_timedrdlock(&rwlock, &deadline) == 0)
        pthread_rwlock_unlock(&rwlock);
#endif
#if defined WRITE_DEADLINE || defined FIXED
    if (pthread_rwlock_timedwrlock(&rwlock, &deadline) == 0)
        pthread_rwlock_unlock(&rwlock);
#endif
#if defined THREAD_ATTRIBUTES || defined FIXED
    if (pthread_create(&other, &attributes, nothing, 0) == 0)
        pthread_join(other, 0);
#endif
#if defined FREED_ATTRIBUTES || defined FIXED
    if (pthread_create(&other, given, nothing, 0) == 0)
        pthread_join(other, 0);
#endif
#if defined MUTEX_ATTRIBUTES || defined FIXED
    pthread_mutex_init(&fresh, &of_mutex);
#endif
#if defined CONDITION_ATTRIBUTES || defined FIXED
    pthread_cond_init(&condition, &of_condition);
#endif
    pthread_join(thread, 0);
    return 0;
}
