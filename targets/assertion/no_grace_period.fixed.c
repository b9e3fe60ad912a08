// Fixed twin of no_grace_period.c: the writer waits until those who were reading have finished.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

// Versions are not freed but marked, so that the mistake shows in the value.
static struct version {
    atomic_int value;
} versions[2] = {{1}, {2}};
static struct version *_Atomic current = &versions[0];
static atomic_int readers;

static void *read_value(void *unused) {
    readers++;
    struct version *version = current;
    assert(version->value > 0);
    readers--;
    return unused;
}

static void *update(void *unused) {
    struct version *old = atomic_exchange(&current, &versions[1]);
    for (int i = 0; i < 100 && readers > 0; i++)
        sched_yield();
    if (readers == 0)
        old->value = -1;
    return unused;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_value, NULL);
    pthread_create(&writer, NULL, update, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
