// Each thread maps memory, uses it and gives it back. The kernel hands the same addresses to the next thread, for which
// that is new memory: what others did at these addresses before does not count.

#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

enum { SIZE = 1 << 16 };

static void *map(void) {
    void *memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(memory != MAP_FAILED);
    return memory;
}

static void *use_for_a_while(void *unused) {
    int *numbers = map();
    for (int i = 0; i < 4; i++)
        numbers[i] += i;
    assert(numbers[3] == 3);
    munmap(numbers, SIZE);
    return unused;
}

static void *move(void *unused) {
    int *numbers = map();
    numbers[0] = 7;
    numbers = mremap(numbers, SIZE, 4 * SIZE, MREMAP_MAYMOVE);
    assert(numbers != MAP_FAILED && numbers[0] == 7);
    numbers[3 * SIZE / sizeof *numbers] = 1;
    munmap(numbers, 4 * SIZE);
    return unused;
}

static void *replace(void *unused) {
    int *numbers = map();
    numbers[0] = 7;
    int *again = mmap(numbers, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert(again == numbers && numbers[0] == 0);
    munmap(numbers, SIZE);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, use_for_a_while, 0);
    pthread_create(&threads[1], 0, move, 0);
    pthread_create(&threads[2], 0, replace, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
