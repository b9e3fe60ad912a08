//~ about: what a program does beside its in-process loop: another loop, threads before or after it; and what only the first iterations do
//~ revisions: second after before first destroyed none
//~ truth: assertion race
//~[destroyed] truth: misuse
//~[none] truth: clean
//~[none] want: proved
//~[first] want: found
//~[destroyed] want: found
#include <assert.h>
#include <pthread.h>
#include <racehunter.h>
#include <stdatomic.h>
static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int plain;
static int *made;
static void begin(void)
{
    count = 0;
}
static void *adds(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}
static void *increments(void *unused)
{
    plain++;
    return unused;
}
static void *locks(void *unused)
{
#ifdef FIRST
    if (!made) {
        static int one;
        made = &one;
    }
#endif
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void both(void *(*run)(void *))
{
    pthread_t one, other;
    pthread_create(&one, 0, run, 0);
    pthread_create(&other, 0, run, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
}
static void first(void)
{
    both(locks);
}
static void second(void)
{
    both(adds);
    assert(count == 2);
}
int main(void)
{
#ifdef BEFORE
    both(increments);
#endif
#ifdef DESTROYED
    pthread_mutex_destroy(&lock);
#endif
    racehunter_loop(first, begin);
#ifdef SECOND
    racehunter_loop(second, begin);
#endif
#ifdef AFTER
    both(increments);
#endif
    (void)increments;
    (void)second;
    return 0;
}
