//~ about: a pointer to a block from before it was resized, to a size that would fit
//~ revisions: bug fixed
//~[bug] truth: use-after-free race
//~[bug] want: found
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
static char *block, *old;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *resizes(void *unused) {
    pthread_mutex_lock(&mutex);
    block = realloc(block, 20);
#ifdef FIXED
    old = block;
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *writes(void *unused) {
    pthread_mutex_lock(&mutex);
    old[0] = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t a, b;
    old = block = malloc(10);
    pthread_create(&a, NULL, resizes, NULL);
    pthread_create(&b, NULL, writes, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(block);
}
