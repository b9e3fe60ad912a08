//~ about: an atomic byte inside a word that another thread writes as a whole
//~ revisions: overlap beside
//~[overlap] truth: race
//~[beside] truth: clean
#include <pthread.h>
#include <stdatomic.h>
static union {
    unsigned word;
    atomic_uchar bytes[8];
} u;
static void *set(void *arg)
{
#ifdef OVERLAP
    atomic_store(&u.bytes[2], 1);
#else
    atomic_store(&u.bytes[5], 1);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    u.word = 7;
    pthread_join(t, 0);
    return 0;
}
