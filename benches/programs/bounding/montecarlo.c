// Monte Carlo: threads take tasks off a list, follow a random price path for each, and add their results to a shared one.
//
// With -DBUG=1 to 6 the program has a bug of the type (preemptions, variables, threads) that `misbehave` says.
//
// usage: montecarlo PATHS    prints a checksum that does not depend on the schedule
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

enum { THREADS = 4, STEPS = 250 };

struct Result {
    unsigned long sum;
    long count;
};

static long paths, next_path;
static struct Result result;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER, result_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int planted;

static unsigned long follow(long path, unsigned *prices) {
    unsigned random = (unsigned)path * 2654435761U + 1;
    unsigned long sum = 0;
    prices[0] = 1000;
    for (int step = 1; step < STEPS; step++) {
        random = random * 1664525U + 1013904223U;
        prices[step] = prices[step - 1] + (random >> 28) - 7;
    }
    for (int step = 0; step < STEPS; step++)
        sum += prices[step];
    return sum;
}

// What a thread of this number does besides, when there are no more paths.
static void misbehave(long thread) {
    switch (BUG) {
    case 1: // (0, 0, 2): thread 1 before thread 0
    case 2: // (0, 0, 3): threads 2, 1, 0
    case 3: // (0, 0, 4): threads 3, 2, 1, 0
        if (thread == 0)
            assert(planted != BUG);
        else if (planted == BUG - thread)
            planted++;
        break;
    case 4: // (1, 1, 2): a write of thread 1 between two reads of thread 0
        if (thread == 0) {
            int before = planted;
            assert(before == planted);
        } else if (thread == 1) {
            planted = 1;
        }
        break;
    case 5: // (1, 1, 3): threads 2 and 1, in this order, between two reads of thread 0
        if (thread == 0) {
            int before = planted;
            assert(before != 0 || planted != 2);
        } else if (thread == 2) {
            planted = 1;
        } else if (thread == 1 && planted == 1) {
            planted = 2;
        }
        break;
    case 6: // (2, 1, 2): two reads of thread 0 see different values, of which thread 1 takes one back
        if (thread == 0) {
            int before = planted;
            assert(before == planted);
        } else if (thread == 1) {
            planted = 1;
            planted = 0;
        }
        break;
    default:
        break;
    }
}

static void *work(void *argument) {
    unsigned *prices = malloc(STEPS * sizeof *prices);
    struct Result own = {0, 0};
    for (;;) {
        pthread_mutex_lock(&list_lock);
        long path = next_path < paths ? next_path++ : -1;
        pthread_mutex_unlock(&list_lock);
        if (path < 0)
            break;
        own.sum += follow(path, prices);
        own.count++;
    }
    misbehave((long)argument);
    pthread_mutex_lock(&result_lock);
    result.sum += own.sum;
    result.count += own.count;
    pthread_mutex_unlock(&result_lock);
    free(prices);
    return NULL;
}

int main(int argc, char **argv) {
    paths = argc > 1 ? atol(argv[1]) : 20000;
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %ld\n", result.sum, result.count);
    return 0;
}
