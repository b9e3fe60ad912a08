// The price of one operation: a loop that does little else.
//
//   hooks read|write|load|add|lock|call N
//
// read and write are plain accesses, load and add atomic ones; lock is a mutex, locked and unlocked; call is a function
// with one access in it. Prints N. The time is taken from outside, as the difference between a large N and a small one.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 64

// Volatile, so that each access is made; for the detector such an access is a plain one.
static volatile long cells[CELLS];
static atomic_long counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void read_cells(long count) {
    for (long i = 0; i < count; i++)
        (void)cells[i % CELLS];
}

static void write_cells(long count) {
    for (long i = 0; i < count; i++)
        cells[i % CELLS] = i;
}

static void load_counter(long count) {
    for (long i = 0; i < count; i++)
        (void)atomic_load_explicit(&counter, memory_order_acquire);
}

static void add_to_counter(long count) {
    for (long i = 0; i < count; i++)
        atomic_fetch_add_explicit(&counter, 1, memory_order_acq_rel);
}

static void lock_mutex(long count) {
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

__attribute__((noinline)) static void write_one(long i) { cells[i % CELLS] = i; }

static void call_function(long count) {
    for (long i = 0; i < count; i++)
        write_one(i);
}

static const struct {
    const char *name;
    void (*repeat)(long count);
} operations[] = {
    {"read", read_cells},    {"write", write_cells}, {"load", load_counter},
    {"add", add_to_counter}, {"lock", lock_mutex},   {"call", call_function},
};

int main(int argc, char **argv) {
    long count = argc == 3 ? atol(argv[2]) : -1;
    for (size_t i = 0; i < sizeof operations / sizeof *operations && count >= 0; i++) {
        if (strcmp(argv[1], operations[i].name) == 0) {
            operations[i].repeat(count);
            printf("%ld\n", count);
            return 0;
        }
    }
    fprintf(stderr, "usage: hooks read|write|load|add|lock|call N\n");
    return 2;
}
