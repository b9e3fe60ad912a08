// Performs a script with several threads, for the test of the race detector.
//
// The script is a file of operations of four bytes: a letter, then three numbers. A byte with the number of threads and,
// for each of them, one with the number of its operations come first. Operations that cannot be performed (unlocking
// what is not held, using a block that is not there) are left out, so that every file is a good script.
//
// Only the accesses that the script asks for are instrumented. Every thread has its own copy of each instruction.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 6
#define OPERATIONS 255
#define BLOCKS 2
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))

typedef uint16_t u16 __attribute__((aligned(1)));
typedef uint32_t u32 __attribute__((aligned(1)));
typedef uint64_t u64 __attribute__((aligned(1)));

static struct {
    unsigned char threads;
    unsigned char lengths[THREADS];
    struct operation { unsigned char what, a, b, c; } operations[THREADS][OPERATIONS];
} script;

static _Alignas(64) unsigned char shared_memory[64];
static _Alignas(64) unsigned char scratch[THREADS][64];
static _Alignas(64) unsigned char markers[THREADS][64];
static pthread_mutex_t mutexes[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlocks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphores[2];
static pthread_barrier_t barrier;
static pthread_t handles[THREADS];
static enum { ABSENT, STARTED, JOINED } states[THREADS];
static unsigned char *blocks[BLOCKS];
static unsigned char *freed[BLOCKS];

static void *(*const threads[THREADS])(void *);

UNSEEN static struct operation fetch(int self, int at) {
    static const struct operation end;
    return at < script.lengths[self] ? script.operations[self][at] : end;
}

// Straight to the kernel, because a call of the C library's function is an event.
UNSEEN static void say(char what, const void *where, size_t size) {
    char line[64];
    long length = snprintf(line, sizeof line, "%c %lx %zu\n", what, (unsigned long)where, size);
    __asm__ volatile("syscall" : "+a"((long){SYS_write}) : "D"(1L), "S"(line), "d"(length) : "rcx", "r11", "memory");
}

// With its first block a thread gets another one for the C library's own use, which should not come in between later.
UNSEEN static void warm_up(void) {
    void *volatile block = malloc(1);
    free(block);
}

// A block is larger than what the C library keeps per thread, so that others get it at once.
UNSEEN static void allocate(int block, int size) {
    if (blocks[block] == NULL) {
        blocks[block] = malloc(1097 + size % 8);
        say('m', blocks[block], malloc_usable_size(blocks[block]));
    } else {
        say('n', NULL, 0);
    }
}

UNSEEN static void release(int block) {
    unsigned char *memory = blocks[block];
    blocks[block] = NULL;
    if (memory != NULL) {
        say('f', memory, malloc_usable_size(memory));
        free(memory);
        freed[block] = memory;
    } else {
        say('n', NULL, 0);
    }
}

UNSEEN static void release_again(int block) {
    if (freed[block] != NULL) {
        say('d', freed[block], malloc_usable_size(freed[block]));
        free(freed[block]);
    } else {
        say('n', NULL, 0);
    }
}

// The quarantine for freed blocks is not larger than that: what was in it can be allocated again.
UNSEEN static void fill_quarantine(void) {
    for (int i = 0; i < 1024; i++) {
        warm_up();
    }
    memset(freed, 0, sizeof freed);
    say('q', NULL, 0);
}

// Region 0 is the array, the others are in the middle of blocks, and then of those that were freed: the C library uses
// the beginning of those that are free, and so none of the script's accesses does harm.
UNSEEN static unsigned char *place(int what, int region, int offset) {
    if (region == 0 || strchr("rwcCslaux", what) == NULL) {
        return shared_memory + offset;
    }
    unsigned char *memory = region <= BLOCKS ? blocks[region - 1] : freed[region - 1 - BLOCKS];
    return memory == NULL ? NULL : memory + 64 + offset;
}

UNSEEN static int start(int number) {
    return number < THREADS && states[number] == ABSENT ? (states[number] = STARTED, 1) : 0;
}

UNSEEN static int stop(int number) {
    return number < THREADS && states[number] == STARTED && handles[number] != 0 ? (states[number] = JOINED, 1) : 0;
}

// What `pthread_create` writes is seen, so it goes where no other thread looks.
UNSEEN static void create(int number) {
    pthread_t handle;
    pthread_create(&handle, NULL, threads[number], NULL);
    handles[number] = handle;
}

UNSEEN static void join(int number) { pthread_join(handles[number], NULL); }

#define BY_SIZE(size, ONE) \
    switch (size) { \
    case 1: ONE(uint8_t) break; \
    case 2: ONE(u16) break; \
    case 4: ONE(u32) break; \
    default: ONE(u64) break; \
    }
#define BY_ALIGNED_SIZE(size, ONE) \
    switch (size) { \
    case 1: ONE(uint8_t) break; \
    case 2: ONE(uint16_t) break; \
    case 4: ONE(uint32_t) break; \
    default: ONE(uint64_t) break; \
    }

// Keeps the compiler from making one instruction of two.
#define APART __asm__ volatile("# apart")

#define READ(type) (void)*(volatile type *)at;
#define WRITE(type) *(volatile type *)at = (type)pc & 1;
#define LOAD(type) \
    switch (op.b >> 4) { \
    case 0: (void)__atomic_load_n((type *)at, __ATOMIC_RELAXED); break; \
    case 2: (void)__atomic_load_n((type *)at, __ATOMIC_ACQUIRE); break; \
    default: (void)__atomic_load_n((type *)at, __ATOMIC_SEQ_CST); break; \
    }
#define STORE(type) \
    switch (op.b >> 4) { \
    case 0: __atomic_store_n((type *)at, pc & 1, __ATOMIC_RELAXED); break; \
    case 3: __atomic_store_n((type *)at, pc & 1, __ATOMIC_RELEASE); break; \
    default: __atomic_store_n((type *)at, pc & 1, __ATOMIC_SEQ_CST); break; \
    }
#define UPDATE(type) \
    switch (op.b >> 4) { \
    case 0: (void)__atomic_fetch_add((type *)at, 1, __ATOMIC_RELAXED); break; \
    case 2: (void)__atomic_fetch_add((type *)at, 1, __ATOMIC_ACQUIRE); break; \
    case 3: (void)__atomic_fetch_add((type *)at, 1, __ATOMIC_RELEASE); break; \
    case 4: (void)__atomic_fetch_add((type *)at, 1, __ATOMIC_ACQ_REL); break; \
    default: (void)__atomic_fetch_add((type *)at, 1, __ATOMIC_SEQ_CST); break; \
    }
#define EXCHANGE(type) { \
    type expected = 0; \
    switch (op.b >> 4) { \
    case 0: __atomic_compare_exchange_n((type *)at, &expected, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); break; \
    case 2: __atomic_compare_exchange_n((type *)at, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); break; \
    case 3: __atomic_compare_exchange_n((type *)at, &expected, 1, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE); break; \
    case 4: __atomic_compare_exchange_n((type *)at, &expected, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); break; \
    default: __atomic_compare_exchange_n((type *)at, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); break; \
    } }

// Accesses: a = region << 4 | offset, b = order << 4 | size, c chooses one of two equal instructions.
static inline __attribute__((always_inline)) void *run(int self) {
    int held = 0;
    warm_up();
    for (int pc = 0;; pc++) {
        struct operation op = fetch(self, pc);
        int size = op.b & 15;
        unsigned char *at = place(op.what, op.a >> 4, op.a & 15);
        if (at == NULL) {
            continue;
        }
        switch (op.what) {
        case 0: return NULL;
        case 'r':
            if (op.c & 1) {
                BY_SIZE(size, READ)
                APART;
            } else {
                BY_SIZE(size, READ)
            }
            break;
        case 'w':
            if (op.c & 1) {
                BY_SIZE(size, WRITE)
                APART;
            } else {
                BY_SIZE(size, WRITE)
            }
            break;
        case 'c': memcpy(scratch[self], at, size); break;
        case 'C': memcpy(at, scratch[self], size); break;
        case 's': memset(at, 0, size); break;
        case 'l': BY_ALIGNED_SIZE(size, LOAD) break;
        case 'a': BY_ALIGNED_SIZE(size, STORE) break;
        case 'u': BY_ALIGNED_SIZE(size, UPDATE) break;
        case 'x': BY_ALIGNED_SIZE(size, EXCHANGE) break;
        case 'f':
            switch (op.a) {
            case 2: __atomic_thread_fence(__ATOMIC_ACQUIRE); break;
            case 3: __atomic_thread_fence(__ATOMIC_RELEASE); break;
            case 4: __atomic_thread_fence(__ATOMIC_ACQ_REL); break;
            default: __atomic_thread_fence(__ATOMIC_SEQ_CST); break;
            }
            break;
        case 'L':
            if (!(held & 1 << op.a)) {
                pthread_mutex_lock(&mutexes[op.a]);
                held |= 1 << op.a;
            }
            break;
        case 'T':
            if (!(held & 1 << op.a) && pthread_mutex_trylock(&mutexes[op.a]) == 0) {
                held |= 1 << op.a;
            }
            break;
        case 'U':
            if (held & 1 << op.a) {
                pthread_mutex_unlock(&mutexes[op.a]);
                held &= ~(1 << op.a);
            }
            break;
        case 'W':
            if (held & 1 << op.a) {
                pthread_cond_wait(&condition, &mutexes[op.a]);
            }
            break;
        case 'N': pthread_cond_broadcast(&condition); break;
        case 'R':
        case 'X':
            if (!(held & 16 << op.a)) {
                int error;
                if (op.b != 0) {
                    error = op.what == 'R' ? pthread_rwlock_tryrdlock(&rwlocks[op.a])
                                           : pthread_rwlock_trywrlock(&rwlocks[op.a]);
                } else {
                    error = op.what == 'R' ? pthread_rwlock_rdlock(&rwlocks[op.a])
                                           : pthread_rwlock_wrlock(&rwlocks[op.a]);
                }
                held |= error == 0 ? 16 << op.a : 0;
            }
            break;
        case 'Y':
            if (held & 16 << op.a) {
                pthread_rwlock_unlock(&rwlocks[op.a]);
                held &= ~(16 << op.a);
            }
            break;
        case 'P': sem_post(&semaphores[op.a]); break;
        case 'Q': sem_wait(&semaphores[op.a]); break;
        case 'q': sem_trywait(&semaphores[op.a]); break;
        case 'B': pthread_barrier_wait(&barrier); break;
        case '+':
            if (start(op.a)) {
                create(op.a);
            }
            break;
        case '-':
            if (stop(op.a)) {
                join(op.a);
            }
            break;
        // The marker tells where in the log the line that is said belongs: there is no other event in between.
        case 'm':
            *(volatile char *)markers[self] = 1;
            allocate(op.a, op.b);
            break;
        case 'F':
            *(volatile char *)markers[self] = 1;
            release(op.a);
            break;
        case 'D':
            *(volatile char *)markers[self] = 1;
            release_again(op.a);
            break;
        case 'Z':
            *(volatile char *)markers[self] = 1;
            fill_quarantine();
            break;
        }
    }
}

#define THREAD(number) \
    static void *thread_##number(void *argument) { \
        (void)argument; \
        return run(number); \
    }
THREAD(0)
THREAD(1)
THREAD(2)
THREAD(3)
THREAD(4)
THREAD(5)

static void *(*const threads[THREADS])(void *) = {thread_0, thread_1, thread_2, thread_3, thread_4, thread_5};

UNSEEN int main(int count, char **arguments) {
    int file = count == 2 ? open(arguments[1], O_RDONLY) : -1;
    if (file < 0 || read(file, &script, 1) != 1 || script.threads > THREADS ||
        read(file, script.lengths, script.threads) != script.threads) {
        return 2;
    }
    for (int i = 0; i < script.threads; i++) {
        ssize_t size = script.lengths[i] * (ssize_t)sizeof(struct operation);
        if (read(file, script.operations[i], size) != size) {
            return 2;
        }
    }
    close(file);
    mallopt(M_ARENA_MAX, 1);
    sem_init(&semaphores[0], 0, 0);
    sem_init(&semaphores[1], 0, 1);
    pthread_barrier_init(&barrier, NULL, 2);
    say('M', markers, sizeof markers);
    thread_0(NULL);
    return 0;
}
