//~ about: a mutex in memory that nothing has initialised is refused by the C library, and locks nothing
//~ revisions: bug fixed
//~[bug] truth: race misuse
//~[bug] want: found
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t *mutex;
static int count;
static void *work(void *unused) {
    pthread_mutex_lock(mutex);
    count++;
    pthread_mutex_unlock(mutex);
    return unused;
}
int main(void) {
    pthread_t a, b;
    mutex = malloc(sizeof *mutex);
    memset(mutex, 0xff, sizeof *mutex);
#ifdef FIXED
    pthread_mutex_init(mutex, NULL);
#endif
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
