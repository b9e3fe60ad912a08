// A set of numbers in a tree under one lock, and work between the accesses that has nothing to do with it.
//
// usage: tree_set ROUNDS    prints how many numbers are in it, which does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, NUMBERS = 2048, WORDS = 64 };

struct Node {
    unsigned number;
    struct Node *less, *more;
};

static struct Node *root;
static long size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static void insert(unsigned number) {
    pthread_mutex_lock(&lock);
    struct Node **link = &root;
    while (*link != NULL && (*link)->number != number)
        link = number < (*link)->number ? &(*link)->less : &(*link)->more;
    if (*link == NULL) {
        *link = calloc(1, sizeof **link);
        (*link)->number = number;
        size++;
    }
    pthread_mutex_unlock(&lock);
}

static void *use(void *argument) {
    unsigned *words = calloc(WORDS, sizeof *words);
    unsigned random = (unsigned)(long)argument;
    for (long i = 0; i < rounds; i++) {
        for (int word = 1; word < WORDS; word++)
            words[word] = words[word - 1] * 31 + (unsigned)i + words[word];
        random = random * 1664525U + 1013904223U;
        insert(random >> 16 & (NUMBERS - 1));
    }
    unsigned last = words[WORDS - 1];
    free(words);
    return (void *)(long)(last == 0);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 20000;
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", size);
    return 0;
}
