//~ about: a cache that is read under the shared lock and filled under the exclusive one
//~ truth: clean
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int valid, value;
static void *get(void *arg)
{
    pthread_rwlock_rdlock(&l);
    int ok = valid, v = value;
    pthread_rwlock_unlock(&l);
    if (!ok) {
        pthread_rwlock_wrlock(&l);
        if (!valid) {
            value = 42;
            valid = 1;
        }
        v = value;
        pthread_rwlock_unlock(&l);
    }
    return (void *)(long)v;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, get, 0);
    pthread_create(&b, 0, get, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
