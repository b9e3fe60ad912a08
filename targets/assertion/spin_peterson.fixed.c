// Fixed twin of spin_peterson.c: each thread says that it wants in before it gives way.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wants[2], turn, inside;

static void *enter(void *number) {
    int me = *(int *)number, other = 1 - me;
    wants[me] = 1;
    turn = other;
    for (int spins = 0; wants[other] && turn == other; spins++) {
        if (spins == 1000) {
            wants[me] = 0;
            return NULL;
        }
        sched_yield();
    }
    int others = atomic_fetch_add(&inside, 1);
    assert(others == 0);
    atomic_fetch_sub(&inside, 1);
    wants[me] = 0;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int numbers[2] = {0, 1};
    pthread_create(&first, NULL, enter, &numbers[0]);
    pthread_create(&second, NULL, enter, &numbers[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
