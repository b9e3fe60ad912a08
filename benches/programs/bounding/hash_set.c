// A set of numbers by hashing, with a lock for each part of the table.
//
// usage: hash_set ROUNDS    prints how many numbers are left, which does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, BUCKETS = 256, LOCKS = 16, NUMBERS = 4096 };

struct Node {
    unsigned number;
    struct Node *next;
};

static struct Node *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS];
static long rounds;

static unsigned hash(unsigned number) {
    number *= 0x2c1b3c6dU;
    return (number ^ number >> 12) % BUCKETS;
}

static int change(unsigned number, int add) {
    unsigned bucket = hash(number);
    struct Node *node, **link = &buckets[bucket];
    pthread_mutex_lock(&locks[bucket % LOCKS]);
    while ((node = *link) != NULL && node->number != number)
        link = &node->next;
    int change = (node == NULL) == add;
    if (change && add) {
        node = malloc(sizeof *node);
        *node = (struct Node){number, *link};
        *link = node;
    } else if (change) {
        *link = node->next;
        free(node);
    }
    pthread_mutex_unlock(&locks[bucket % LOCKS]);
    return change;
}

// Each thread has its own numbers, so that what is left does not depend on who is first.
static void *use(void *argument) {
    unsigned own = (unsigned)(long)argument, random = own + 1;
    long left = 0;
    for (long i = 0; i < rounds; i++) {
        random = random * 1664525U + 1013904223U;
        unsigned number = (random >> 12) % (NUMBERS / THREADS) * THREADS + own;
        int add = random >> 31;
        if (change(number, add))
            left += add ? 1 : -1;
    }
    return (void *)left;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 50000;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    pthread_t threads[THREADS];
    long total = 0;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *left;
        pthread_join(threads[i], &left);
        total += (long)left;
    }
    printf("%ld\n", total);
    return 0;
}
