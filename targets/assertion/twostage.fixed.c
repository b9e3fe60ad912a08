// Fixed twin of twostage.c: the writer keeps the first lock until the second stage is done, and the reader does
// the same.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int source, derived;
static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t derived_lock = PTHREAD_MUTEX_INITIALIZER;

static void *write_both(void *unused) {
    (void)unused;
    pthread_mutex_lock(&source_lock);
    source = 1;

    pthread_mutex_lock(&derived_lock);
    derived = 2;
    pthread_mutex_unlock(&derived_lock);
    pthread_mutex_unlock(&source_lock);
    return NULL;
}

static void *read_both(void *unused) {
    (void)unused;
    pthread_mutex_lock(&source_lock);
    int base = source;

    pthread_mutex_lock(&derived_lock);
    int result = derived;
    pthread_mutex_unlock(&derived_lock);
    pthread_mutex_unlock(&source_lock);
    assert(base == 0 || result == base + 1);
    return NULL;
}

int main(void) {
    pthread_t writer, reader;
    pthread_create(&writer, NULL, write_both, NULL);
    pthread_create(&reader, NULL, read_both, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
