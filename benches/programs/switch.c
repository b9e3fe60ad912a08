// The price of one switch between two threads.
//
//   switch yield N    two threads call sched_yield in turns. Under RaceHunter each call is one switch.
//   switch futex N    two threads of the operating system hand a token to each other through a futex, which is what a
//                     scheduler has to do that keeps the program's threads as they are. Run it natively.
//
// Both print N. The time is taken from outside, as the difference between a large N and a small one.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct Player {
    int number;
    long turns;
};

static atomic_int turn;

static void *yield_in_turns(void *argument) {
    struct Player *player = argument;
    for (long i = 0; i < player->turns; i++)
        sched_yield();
    return NULL;
}

static void *pass_token(void *argument) {
    struct Player *player = argument;
    int other = 1 - player->number;
    for (long i = 0; i < player->turns; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != player->number)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, other, NULL, NULL, 0);
        atomic_store_explicit(&turn, other, memory_order_release);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "yield";
    long count = argc > 2 ? atol(argv[2]) : 100000;
    int yields = strcmp(mode, "yield") == 0;
    if (count < 0 || (!yields && strcmp(mode, "futex") != 0)) {
        fprintf(stderr, "usage: switch yield|futex [count]\n");
        return 2;
    }
    struct Player players[2] = {{0, count - count / 2}, {1, count / 2}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, yields ? yield_in_turns : pass_token, &players[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", count);
    return 0;
}
