// Peterson's lock with its two announcements swapped: each thread gives way first and says that it wants in
// afterwards. Both can be inside. The spinning is bounded, and yields.
//
// preemptions: 2
//
// The twin is right because each thread says that it wants in before it gives way.

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wants[2], turn, inside;

static void *enter(void *number) {
    int me = *(int *)number, other = 1 - me;
    turn = other;
    wants[me] = 1;
    for (int spins = 0; wants[other] && turn == other; spins++) {
        if (spins == 1000) {
            wants[me] = 0;
            return NULL;
        }
        sched_yield();
    }
    int others = atomic_fetch_add(&inside, 1);
    assert(others == 0); //~ assertion
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
