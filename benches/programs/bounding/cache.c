// A cache of objects that several threads share, under one lock; what is not in it is computed without the lock.
//
// usage: cache ROUNDS    prints a checksum that does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ENTRIES = 64, KEYS = 256, WORDS = 512 };

struct Entry {
    unsigned key;
    int used;
    unsigned long value;
};

static struct Entry entries[ENTRIES];
static unsigned long hits, misses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static unsigned long compute(unsigned key, unsigned long *scratch) {
    scratch[0] = key + 1;
    for (int i = 1; i < WORDS; i++)
        scratch[i] = scratch[i - 1] * 6364136223846793005UL + scratch[i / 2];
    return scratch[WORDS - 1];
}

static unsigned long get(unsigned key, unsigned long *scratch) {
    struct Entry *entry = &entries[key % ENTRIES];
    pthread_mutex_lock(&lock);
    if (entry->used && entry->key == key) {
        unsigned long value = entry->value;
        hits++;
        pthread_mutex_unlock(&lock);
        return value;
    }
    misses++;
    pthread_mutex_unlock(&lock);
    unsigned long value = compute(key, scratch);
    pthread_mutex_lock(&lock);
    *entry = (struct Entry){.key = key, .used = 1, .value = value};
    pthread_mutex_unlock(&lock);
    return value;
}

static void *use(void *argument) {
    unsigned long sum = 0, *scratch = malloc(WORDS * sizeof *scratch);
    unsigned random = (unsigned)(long)argument;
    for (long i = 0; i < rounds; i++) {
        random = random * 1664525U + 1013904223U;
        sum += get(random >> 16 & (KEYS - 1), scratch);
    }
    free(scratch);
    return (void *)sum;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 20000;
    pthread_t threads[THREADS];
    unsigned long total = 0;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        total ^= (unsigned long)sum;
    }
    printf("%lx %lu\n", total, hits + misses);
    return 0;
}
