// The slowdown benchmark: threads that mostly work on memory of their own.
//
// Each thread keeps a hash table of linked nodes, looks keys up, and changes what it finds; now and then it adds its
// sum to a shared total under a mutex. Most of the time goes into loads and stores, none into the system.
//
// In order of the keys a processor foresees every branch, and time is the number of instructions. With keys at random
// it waits for mispredicted branches most of the time, and hooks are hidden behind that.
//
// usage: hot [threads [iterations [ordered|random]]]    prints a checksum that does not depend on the schedule
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256
#define KEYS 1024
#define SHARE_EVERY 4096

struct Node {
    uint32_t key, hits;
    uint64_t value;
    struct Node *next;
};

struct Worker {
    pthread_t thread;
    uint32_t seed;
    int ordered;
    long iterations;
    struct Node *buckets[BUCKETS];
    struct Node nodes[KEYS];
};

static uint64_t total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t scramble(uint32_t number) {
    number ^= number >> 15;
    number *= 0x2c1b3c6dU;
    number ^= number >> 12;
    number *= 0x297a2d39U;
    return number ^ number >> 15;
}

static void fill(struct Worker *worker) {
    for (uint32_t key = 0; key < KEYS; key++) {
        struct Node *node = &worker->nodes[key];
        struct Node **bucket = &worker->buckets[scramble(key) % BUCKETS];
        *node = (struct Node){.key = key, .value = key, .next = *bucket};
        *bucket = node;
    }
}

static struct Node *find(struct Worker *worker, uint32_t key) {
    struct Node *node = worker->buckets[scramble(key) % BUCKETS];
    while (node != NULL && node->key != key)
        node = node->next;
    return node;
}

static void share(uint64_t sum) {
    pthread_mutex_lock(&total_lock);
    total += sum;
    pthread_mutex_unlock(&total_lock);
}

static void *work(void *argument) {
    struct Worker *worker = argument;
    uint32_t random = worker->seed;
    uint64_t sum = 0;
    fill(worker);
    for (long i = 1; i <= worker->iterations; i++) {
        random = random * 1664525U + 1013904223U;
        uint32_t key = worker->ordered ? (uint32_t)i : random >> 16;
        struct Node *node = find(worker, key & (KEYS - 1));
        node->hits++;
        node->value = node->value * 31 + node->hits;
        sum += node->value;
        if (i % SHARE_EVERY == 0) {
            share(sum);
            sum = 0;
        }
    }
    share(sum);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    long iterations = argc > 2 ? atol(argv[2]) : 1000000;
    const char *order = argc > 3 ? argv[3] : "ordered";
    int ordered = strcmp(order, "ordered") == 0;
    if (threads < 1 || threads > 1000 || iterations < 0 || (!ordered && strcmp(order, "random") != 0)) {
        fprintf(stderr, "usage: hot [threads [iterations [ordered|random]]]\n");
        return 2;
    }
    struct Worker *workers = calloc((size_t)threads, sizeof *workers);
    if (workers == NULL)
        return 1;
    for (int i = 0; i < threads; i++) {
        workers[i].seed = (uint32_t)i + 1;
        workers[i].ordered = ordered;
        workers[i].iterations = iterations;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%016llx\n", (unsigned long long)total);
    free(workers);
    return 0;
}
