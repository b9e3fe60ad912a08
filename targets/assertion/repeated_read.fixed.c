// Fixed twin of repeated_read.c: a lock is held over both reads, and by the writer.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *read_twice(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int first = a;
    int second = a;
    pthread_mutex_unlock(&lock);
    assert(first == second);
    return NULL;
}

static void *change(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    a++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_twice, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
