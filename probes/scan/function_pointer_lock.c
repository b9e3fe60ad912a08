//~ about: locking by functions that are chosen at run time; one of them does nothing
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void take(void) { pthread_mutex_lock(&m); }
static void give(void) { pthread_mutex_unlock(&m); }
static void nothing(void) { }
struct locking { void (*take)(void), (*give)(void); };
static struct locking real = {take, give}, none = {nothing, nothing};
static void *work(void *arg)
{
    struct locking *l = arg;
    l->take();
    n++;
    l->give();
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, &real);
#ifdef BUG
    pthread_create(&b, 0, work, &none);
#else
    pthread_create(&b, 0, work, &real);
    (void)none;
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
