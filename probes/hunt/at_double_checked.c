//~ about: double-checked initialisation
//~ revisions: plain relaxed acquire
//~[plain] truth: race
//~[relaxed] truth: race
//~[acquire] truth: clean
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef PLAIN
static int *instance;
#define LOAD() instance
#define STORE(p) (instance = (p))
#elif defined RELAXED
static _Atomic(int *) instance;
#define LOAD() atomic_load_explicit(&instance, memory_order_relaxed)
#define STORE(p) atomic_store_explicit(&instance, p, memory_order_relaxed)
#else
static _Atomic(int *) instance;
#define LOAD() atomic_load_explicit(&instance, memory_order_acquire)
#define STORE(p) atomic_store_explicit(&instance, p, memory_order_release)
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *get(void *arg)
{
    int *mine = LOAD();
    if (!mine) {
        pthread_mutex_lock(&m);
        mine = LOAD();
        if (!mine) {
            mine = malloc(sizeof *mine);
            *mine = 5;
            STORE(mine);
        }
        pthread_mutex_unlock(&m);
    }
    return *mine == 5 ? arg : 0;
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
