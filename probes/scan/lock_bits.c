//~ about: one bit of a word is the lock, and a thread clears two
//~ truth: race
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint w;
static int n;
static void *one(void *arg)
{
    while (atomic_fetch_or(&w, 1) & 1)
        ;
    n++;
    atomic_fetch_and(&w, ~1u);
    return arg;
}
static void *two(void *arg)
{
    atomic_fetch_and(&w, ~3u);
    return arg;
}
int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, one, 0);
    pthread_create(&c, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
