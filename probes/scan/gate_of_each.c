//~ about: each creator has a lock of its own, which looks the same
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int dummy;
struct crew { pthread_mutex_t lock; pthread_t worker; };
static struct crew crews[2] = { { PTHREAD_MUTEX_INITIALIZER, 0 }, { PTHREAD_MUTEX_INITIALIZER, 0 } };
static void *work(void *arg)
{
    n++;
    return arg;
}
static void *creator(void *arg)
{
    struct crew *crew = arg;
    pthread_mutex_lock(&crew->lock);
    pthread_create(&crew->worker, 0, work, 0);
    pthread_join(crew->worker, 0);
    pthread_mutex_unlock(&crew->lock);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, creator, &crews[0]);
#ifdef BUG
    pthread_create(&b, 0, creator, &crews[1]);
#else
    pthread_create(&b, 0, creator, &crews[0]);
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
    return dummy;
}
