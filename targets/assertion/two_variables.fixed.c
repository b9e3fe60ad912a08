// Fixed twin of two_variables.c: a lock makes the three writes one step.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int first = a;
    int second = a;
    int third = b;
    pthread_mutex_unlock(&lock);
    assert(first == second || third != 1);
    return NULL;
}

static void *change(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    a = 1;
    b = 1;
    b = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, look, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
