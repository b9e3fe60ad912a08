//~ about: a function of the program with the name of one of a library
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#ifdef BUG
static int sem_wait(void *s) { return 0; }
static int sem_post(void *s) { return 0; }
#else
static int sem_wait(void *s) { return pthread_mutex_lock(s); }
static int sem_post(void *s) { return pthread_mutex_unlock(s); }
#endif
static void *work(void *arg)
{
    sem_wait(&m);
    n++;
    sem_post(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
