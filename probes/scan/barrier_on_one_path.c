//~ about: a thread waits at a barrier on one of two paths only, and the paths differ in the locks that it holds, too
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared, choice;
static void *sometimes(void *arg)
{
#ifdef BUG
    if (choice) {
        pthread_mutex_lock(&mutex);
        pthread_barrier_wait(&barrier);
    }
    shared = 1; //~ bug
#else
    shared = 1;
    if (choice) {
        pthread_mutex_lock(&mutex);
        pthread_barrier_wait(&barrier);
    }
#endif
    return arg;
}
static void *always(void *arg)
{
    pthread_barrier_wait(&barrier);
    shared = 2; //~ bug
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    (void)argv;
    choice = argc == 1;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&a, 0, sometimes, 0);
    pthread_create(&b, 0, always, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
