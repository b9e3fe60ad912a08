// A blocking queue between producers and consumers, who make and check packets.
//
// usage: queue PACKETS    prints a checksum that does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 2, ROOM = 8, WORDS = 256 };

struct Packet {
    unsigned words[WORDS];
};

static struct Packet *slots[ROOM];
static int first, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long packets;

static void put(struct Packet *packet) {
    pthread_mutex_lock(&lock);
    while (count == ROOM)
        pthread_cond_wait(&emptied, &lock);
    slots[(first + count++) % ROOM] = packet;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static struct Packet *take(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&filled, &lock);
    struct Packet *packet = slots[first];
    first = (first + 1) % ROOM;
    count--;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return packet;
}

static void *produce(void *argument) {
    unsigned random = (unsigned)(long)argument;
    for (long i = 0; i < packets; i++) {
        struct Packet *packet = malloc(sizeof *packet);
        for (int word = 0; word < WORDS; word++)
            packet->words[word] = random = random * 1664525U + 1013904223U;
        put(packet);
    }
    return NULL;
}

static void *consume(void *argument) {
    unsigned long sum = 0;
    for (long i = 0; i < packets; i++) {
        struct Packet *packet = take();
        for (int word = 0; word < WORDS; word++)
            sum += packet->words[word] ^ (unsigned)word;
        free(packet);
    }
    (void)argument;
    return (void *)sum;
}

int main(int argc, char **argv) {
    packets = argc > 1 ? atol(argv[1]) : 10000;
    pthread_t producers[PAIRS], consumers[PAIRS];
    unsigned long total = 0;
    for (long i = 0; i < PAIRS; i++) {
        pthread_create(&producers[i], NULL, produce, (void *)(i + 1));
        pthread_create(&consumers[i], NULL, consume, NULL);
    }
    for (int i = 0; i < PAIRS; i++) {
        void *sum;
        pthread_join(producers[i], NULL);
        pthread_join(consumers[i], &sum);
        total += (unsigned long)sum;
    }
    printf("%lx\n", total);
    return 0;
}
