//~ about: rep movsb into a buffer that another thread reads
//~ revisions: bug fixed
//~[bug] truth: race assertion
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
static char buf[16];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void copy(char *to, const char *from, unsigned long n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static void *fill(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    copy(buf, "12345678", 8);
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, fill, 0);
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    char x = buf[0], y = buf[7];
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    assert((x == 0) == (y == 0));
    pthread_join(a, 0);
    return 0;
}
