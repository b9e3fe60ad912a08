//~ about: a stream remembers that it has come to its end, until another thread has it forget that
//~ revisions: bug fixed
//~[bug] truth: assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static FILE *stream;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *reads(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
    while (fgetc(stream) != EOF)
        ;
    assert(feof(stream));
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}
static void *forgets(void *unused) {
    pthread_mutex_lock(&mutex);
    clearerr(stream);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t a, b;
    stream = fopen("/dev/null", "r");
    pthread_create(&a, NULL, reads, NULL);
    pthread_create(&b, NULL, forgets, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
