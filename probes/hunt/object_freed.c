//~ about: operations that take nothing still use the memory of their object, which the owner frees too early
//~ revisions: sem_timed sem_try sem_value sem_waits once once_again c11_once mutex_init sem_init cond_init rwlock_init barrier_init spin_init c11_init spin_use mutex_timed rwlock_timed consistent futex fixed
//~ truth: use-after-free data-race
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

struct shared {
    sem_t items;
    pthread_once_t once;
    once_flag flag;
    pthread_mutex_t mutex, held;
    pthread_cond_t condition;
    pthread_rwlock_t lock, written;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    mtx_t c11;
    int word;
};
static struct shared *shared;
static sem_t started;
static const struct timespec past = {0, 1};

static void nothing(void) {}

static void use(struct shared *s)
{
    int value = 0;
    (void)s;
    (void)value;
#if defined SEM_TIMED || defined FIXED
    sem_timedwait(&s->items, &past);
#endif
#if defined SEM_TRY || defined FIXED
    sem_trywait(&s->items);
#endif
#if defined SEM_VALUE || defined FIXED
    sem_getvalue(&s->items, &value);
#endif
#ifdef SEM_WAITS
    sem_wait(&s->items);
#endif
#if defined ONCE || defined FIXED
    pthread_once(&s->once, nothing);
#endif
#ifdef ONCE_AGAIN
    pthread_once(&s->once, nothing);
#endif
#if defined C11_ONCE || defined FIXED
    call_once(&s->flag, nothing);
#endif
#if defined MUTEX_INIT || defined FIXED
    pthread_mutex_init(&s->mutex, 0);
#endif
#if defined SEM_INIT || defined FIXED
    sem_init(&s->items, 0, 0);
#endif
#if defined COND_INIT || defined FIXED
    pthread_cond_init(&s->condition, 0);
#endif
#if defined RWLOCK_INIT || defined FIXED
    pthread_rwlock_init(&s->lock, 0);
#endif
#if defined BARRIER_INIT || defined FIXED
    pthread_barrier_init(&s->barrier, 0, 2);
#endif
#if defined SPIN_INIT || defined FIXED
    pthread_spin_init(&s->spin, 0);
#endif
#if defined C11_INIT || defined FIXED
    mtx_init(&s->c11, mtx_plain);
#endif
#if defined SPIN_USE || defined FIXED
    pthread_spin_lock(&s->spin);
    pthread_spin_unlock(&s->spin);
#endif
#if defined MUTEX_TIMED || defined FIXED
    pthread_mutex_timedlock(&s->held, &past);
#endif
#if defined RWLOCK_TIMED || defined FIXED
    pthread_rwlock_timedrdlock(&s->written, &past);
#endif
#if defined CONSISTENT || defined FIXED
    pthread_mutex_consistent(&s->mutex);
#endif
#if defined FUTEX || defined FIXED
    syscall(SYS_futex, &s->word, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0);
#endif
}

static void *worker(void *arg)
{
    sem_post(&started);
    use(shared);
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct shared *s = shared = calloc(1, sizeof *s);
    sem_init(&started, 0, 0);
    sem_init(&s->items, 0, 0);
    pthread_mutex_init(&s->mutex, 0);
    pthread_mutex_init(&s->held, 0);
    pthread_rwlock_init(&s->written, 0);
    pthread_spin_init(&s->spin, 0);
    pthread_mutex_lock(&s->held);
    pthread_rwlock_wrlock(&s->written);
#ifdef ONCE_AGAIN
    pthread_once(&s->once, nothing);
#endif
    pthread_create(&thread, 0, worker, 0);
    sem_wait(&started);
#ifdef FIXED
    pthread_join(thread, 0);
    pthread_rwlock_unlock(&s->written);
    pthread_mutex_unlock(&s->held);
    free(s);
#elif defined SEM_WAITS
    // The program ends while the other thread waits, perhaps for a semaphore that is gone.
    free(s);
    exit(0);
#else
    free(s);
    pthread_join(thread, 0);
#endif
    return 0;
}
