// Overwrites the memory that it shares with the controller, in a way that its arguments choose: a seed, and how.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 4096, SLOTS = 1 << 20, PID = 44 };

static int shared;
static uint64_t state;

__attribute__((no_sanitize("thread"))) static uint64_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void *work(void *unused) {
    shared++;
    return unused;
}

// The memory, and how much of it there is.
static volatile unsigned char *find(long *size) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[600];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *end;
        if (strstr(line, "memfd:racehunter") == NULL)
            continue;
        unsigned char *start = (unsigned char *)strtoull(line, &end, 16);
        *size = (unsigned char *)strtoull(end + 1, NULL, 16) - start;
        return start;
    }
    return NULL;
}

__attribute__((no_sanitize("thread"))) static void garble(volatile unsigned char *memory, long size, int how) {
    static const int pids[] = {1, -1, 0, 2, 0x7fffffff};
    switch (how) {
    case 0: // everything, with the same byte
        for (long i = 8; i < SLOTS; i++)
            memory[i] = 0xff;
        break;
    case 1: // everything, with random bytes
        for (long i = 0; i < SLOTS; i++)
            memory[i] = (unsigned char)draw();
        break;
    case 2: // one byte in fifty
        for (long i = 8; i < SLOTS; i++)
            if (draw() % 50 == 0)
                memory[i] = (unsigned char)draw();
        break;
    case 3: // everything, with nothing
        for (long i = 8; i < SLOTS; i++)
            memory[i] = 0;
        break;
    case 4: // a few words, anywhere
        for (int i = 0; i < 20; i++)
            *(volatile uint64_t *)(memory + draw() % ((unsigned long)size / 8) * 8) = draw() << 32 | draw();
        break;
    case 5: // a process that is not ours, and then it hangs
        *(volatile int *)(memory + PID) = pids[draw() % 5];
        for (;;)
            __asm__ volatile("");
    default: // nothing at all
        break;
    }
}

int main(int count, char **words) {
    pthread_t thread;
    long size = 0;
    int how = count > 2 ? atoi(words[2]) : 0;
    pthread_create(&thread, NULL, work, NULL);
    volatile unsigned char *memory = find(&size);
    if (memory == NULL)
        abort();
    state = strtoull(words[1], NULL, 10);
    garble(memory, size, how);
    pthread_join(thread, NULL);
    _exit(0);
}
