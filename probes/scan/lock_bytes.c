//~ about: an operation on a lock changes the lock: a thread that copies a structure with a lock in it reads what the other changes
//~ command: scan
//~ revisions: copied once_read semaphore_read before number
//~ truth: race
//~[before] truth: clean
//~[before] want: proved
//~[number] truth: clean
//~[number] want: proved
//~ cross: no
#include <pthread.h>
#include <semaphore.h>
static struct entry {
    pthread_mutex_t lock;
    pthread_once_t once;
    sem_t ready;
    int number;
} entry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT}, copy;
static pthread_once_t seen;
static void begin(void)
{
}
static void *work(void *unused)
{
    pthread_once(&entry.once, begin);
    pthread_mutex_lock(&entry.lock);
    entry.number++;
    pthread_mutex_unlock(&entry.lock);
    sem_post(&entry.ready);
    return unused;
}
int main(void)
{
    pthread_t thread;
    sem_init(&entry.ready, 0, 0);
#ifdef BEFORE
    copy.lock = entry.lock;
#endif
    pthread_create(&thread, 0, work, 0);
#if defined COPIED
    copy.lock = entry.lock;
#elif defined ONCE_READ
    seen = entry.once;
#elif defined SEMAPHORE_READ
    copy.ready = entry.ready;
#elif defined NUMBER
    pthread_mutex_lock(&entry.lock);
    copy.number = entry.number;
    pthread_mutex_unlock(&entry.lock);
#endif
    pthread_join(thread, 0);
    return 0;
}
