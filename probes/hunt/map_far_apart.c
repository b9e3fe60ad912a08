//~ about: memory at addresses that differ only in their highest bits, by hints or on demand
//~ revisions: hint fixed race
//~ truth: clean
//~[race] truth: race
//~ want: no-claim
//~[race] want: found
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef FIXED
#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE)
#else
#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS)
#endif
static int *one, *other;
static int *map(unsigned long at) {
    void *memory = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
    if (memory == MAP_FAILED)
        exit(0);
    return memory;
}
static void *write_one(void *unused) {
    *one = 1;
    return unused;
}
int main(void) {
    one = map(0x600000000000);
    other = map(0x700000000000);
    pthread_t thread;
    pthread_create(&thread, NULL, write_one, NULL);
#ifdef RACE
    *one = 2;
#else
    *other = 2;
#endif
    pthread_join(thread, NULL);
}
