// A program that does something else in every schedule, most of it bad: `chaos FILE`.
//
// Two threads leave their names in a number, so that it stands for the order in which they came. The number chooses
// what a third thread does. That is noted in FILE before it is done, by one letter at its end, past everything that
// anybody could control or lose. The letters and what they stand for are in `shows/chaos.rs`.

#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// One letter per way to end, more often for those that take no time.
static const char ACTS[] = "xxxxxxxxxxxxxxssssssscccccccaaaaaadddddddrrrrrggffffkkkppmbowzzh";
_Static_assert(sizeof ACTS - 1 == 64, "a power of two");

static atomic_uint order = 1;
static const char *file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int zero, shared;

// A system call that nothing stands between.
static long kernel(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void *come(void *name) {
    for (int i = 0; i < 8; i++)
        order = order * 31 + (unsigned)(size_t)name;
    return NULL;
}

static void *touch(void *unused) {
    shared = shared + 1;
    return unused;
}

static void wait_outside(void) {
    for (;;)
        kernel(SYS_pause, 0, 0, 0);
}

// A process that nobody waits for, in a session of its own.
static void leave_daemon(void) {
    if (fork() == 0) {
        kernel(SYS_setsid, 0, 0, 0);
        if (fork() == 0)
            wait_outside();
        kernel(SYS_exit_group, 0, 0, 0);
    }
}

// Garbage around blocks of the heap, which is then used. It has no bits by which the C library would take a block for a
// mapping of its own and give back what it finds there.
static void corrupt(void) {
    char *blocks[8];
    for (int i = 0; i < 8; i++)
        blocks[i] = malloc(40 + 100 * (size_t)i);
    for (int i = 0; i < 8; i++)
        for (char *byte = blocks[i] - 64; byte < blocks[i] + 2048; byte++)
            *(volatile char *)byte = (char)(0x41 | (order >> i & 0x38));
    for (int i = 0; i < 8; i++)
        free(blocks[i]);
    for (int i = 0; i < 8; i++)
        blocks[i] = malloc(3000);
}

static void take(size_t size) {
    volatile char *block = malloc(size);
    for (size_t i = 0; block != NULL && i < size; i += 4096)
        block[i] = 1;
}

static void flood(void) {
    static char much[1 << 16];
    for (int i = 0; i < 1024; i++)
        kernel(SYS_write, 1 + i % 2, (long)much, sizeof much);
}

static void *act(void *argument) {
    switch (*(const char *)argument) {
    case 's': // ends with a status
        exit(7);
    case 'c': // crashes
        shared = 100 / zero;
        break;
    case 'a': // fails
        assert(zero != 0);
        break;
    case 'd': // waits for itself
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&lock);
        break;
    case 'r': { // races
        pthread_t first, second;
        pthread_create(&first, NULL, touch, NULL);
        pthread_create(&second, NULL, touch, NULL);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        break;
    }
    case 'g': // leaves a process behind
        leave_daemon();
        break;
    case 'f': // writes without end
        flood();
        break;
    case 'k': // kills itself
        kernel(SYS_kill, kernel(SYS_getpid, 0, 0, 0), SIGKILL, 0);
        break;
    case 'p': // kills its parent
        kernel(SYS_kill, kernel(SYS_getppid, 0, 0, 0), SIGKILL, 0);
        wait_outside();
        break;
    case 'm': // takes all memory
        for (;;)
            take(1 << 20);
    case 'b': // never ends, busy
        for (;;)
            __asm__ volatile("");
    case 'o': // never ends, asleep
        wait_outside();
        break;
    case 'w': // stops
        kernel(SYS_kill, kernel(SYS_getpid, 0, 0, 0), SIGSTOP, 0);
        break;
    case 'z': // kills its process group
        kernel(SYS_kill, 0, SIGKILL, 0);
        break;
    case 'h': // writes where it should not
        corrupt();
        exit(9);
    default: // ends well, without any open file
        for (int number = 0; number < 256; number++)
            kernel(SYS_close, number, 0, 0);
    }
    return NULL;
}

int main(int count, char **words) {
    pthread_t first, second, third;
    file = count > 1 ? words[1] : "/dev/null";
    pthread_create(&first, NULL, come, (void *)3);
    pthread_create(&second, NULL, come, (void *)5);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    const char *chosen = &ACTS[(order * 2654435761u) >> 26];
    long note = kernel(SYS_open, (long)file, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    kernel(SYS_write, note, (long)chosen, 1);
    kernel(SYS_close, note, 0, 0);
    pthread_create(&third, NULL, act, (void *)chosen);
    pthread_join(third, NULL);
    return 0;
}
