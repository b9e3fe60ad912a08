//~ about: localtime has one result for all threads
//~ revisions: bug fixed
//~[bug] truth: assertion race
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <time.h>
static void *year(void *arg)
{
    long y = (long)arg;
    time_t t = (time_t)(y - 1970) * 31556952 + 86400 * 10;
#ifdef BUG
    struct tm *r = gmtime(&t);
#else
    struct tm own, *r = gmtime_r(&t, &own);
#endif
    assert(r->tm_year + 1900 == y);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, year, (void *)1980);
    pthread_create(&b, 0, year, (void *)2010);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
