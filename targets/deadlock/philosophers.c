// Three philosophers, main being one of them, each take the fork on the left and then the one on the right.
//
// preemptions: 1
//
// The twin is right because all take the fork with the smaller number first.

#include <pthread.h>

#define SEATS 3

static pthread_mutex_t forks[SEATS] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};
static int meals[SEATS];

static void *dine(void *number) {
    int seat = *(int *)number;
    int left = seat, right = (seat + 1) % SEATS;
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]); //~ deadlock
    meals[seat]++;
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return NULL;
}

int main(void) {
    pthread_t guests[2];
    int seats[SEATS] = {0, 1, 2};
    pthread_create(&guests[0], NULL, dine, &seats[0]);
    pthread_create(&guests[1], NULL, dine, &seats[1]);
    dine(&seats[2]);
    pthread_join(guests[0], NULL);
    pthread_join(guests[1], NULL);
    return meals[0] + meals[1] + meals[2] != SEATS;
}
