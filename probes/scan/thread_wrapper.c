//~ about: a wrapper of pthread_create gets the attributes, or a null pointer, from its callers
//~ revisions: null given chosen changed replaced through
//~[null] truth: clean
//~[null] want: proved
//~[given] truth: clean
//~[given] want: proved
//~[chosen] truth: clean
//~[changed] truth: race
//~[replaced] truth: race
//~[through] truth: race
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_attr_t shared;
static int count;
static int start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    const pthread_attr_t *own = attributes;
#if defined REPLACED
    if (!own)
        own = &shared;
#elif defined THROUGH
    const pthread_attr_t **at = &own;
    *at = &shared;
#elif defined CHOSEN
    own = argument ? attributes : 0;
#endif
    return pthread_create(thread, own, run, argument);
}
static void *work(void *p)
{
#if defined CHANGED || defined REPLACED || defined THROUGH
    if (p)
        pthread_attr_setstacksize(&shared, 1 << 20);
#endif
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    pthread_t one, other;
    const pthread_attr_t *attributes = 0;
    pthread_attr_init(&shared);
#if defined GIVEN || defined CHANGED
    attributes = &shared;
#endif
    start(&one, attributes, work, &count);
    start(&other, attributes, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return count != 2;
}
