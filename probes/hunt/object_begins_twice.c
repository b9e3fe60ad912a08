//~ about: two threads initialise one object; or one resets it by an assignment while the other one uses it
//~ revisions: mutex sem cond rwlock barrier spin once_reset fixed
//~ truth: data-race misuse
//~[fixed] truth: clean
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t mutex, guard = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void nothing(void) {}

static void begin(void)
{
#if defined MUTEX || defined FIXED
    pthread_mutex_init(&mutex, 0);
#endif
#if defined SEM || defined FIXED
    sem_init(&sem, 0, 1);
#endif
#if defined COND || defined FIXED
    pthread_cond_init(&cond, 0);
#endif
#if defined RWLOCK || defined FIXED
    pthread_rwlock_init(&rwlock, 0);
#endif
#if defined BARRIER || defined FIXED
    pthread_barrier_init(&barrier, 0, 1);
#endif
#if defined SPIN || defined FIXED
    pthread_spin_init(&spin, 0);
#endif
}

static void *worker(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&guard);
#endif
    begin();
#if defined ONCE_RESET || defined FIXED
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
#endif
#ifdef FIXED
    pthread_mutex_unlock(&guard);
#endif
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
#ifdef FIXED
    pthread_mutex_lock(&guard);
#endif
    begin();
#if defined ONCE_RESET || defined FIXED
    pthread_once(&once, nothing);
#endif
#ifdef FIXED
    pthread_mutex_unlock(&guard);
#endif
    pthread_join(thread, 0);
    return 0;
}
