//~ about: members of a packed structure that are not aligned
//~ revisions: beside overlap
//~[beside] truth: clean
//~[overlap] truth: race
#include <pthread.h>
#include <string.h>
static struct __attribute__((packed)) {
    char c;
    int a;
    long b;
} s;
static void *set(void *arg)
{
    s.b = 3;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, set, 0);
#ifdef BESIDE
    s.a = 2;
#else
    memset((char *)&s + 1, 7, 5);
#endif
    pthread_join(t, 0);
    return 0;
}
