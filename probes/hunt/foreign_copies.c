//~ about: a library without instrumentation lets the C library touch memory of the program, without and with a lock
//~ revisions: bug fixed
//~ with: foreign/copies.c gcc-shared
//~[bug] truth: race
//~[bug] want: found
//~[fixed] truth: clean
#include <pthread.h>
#include <string.h>
void plain_fill(char *to, const char *from, unsigned long n);
unsigned long plain_length(const char *text);
static char buffer[64];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *put(void *arg)
{
    unsigned long n = strlen(arg);
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    plain_fill(buffer, arg, n); //~ bug
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    return 0;
}
static void *get(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    unsigned long n = plain_length(buffer); //~ bug
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    (void)arg;
    return (void *)n;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, put, "hello");
    pthread_create(&b, 0, get, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
