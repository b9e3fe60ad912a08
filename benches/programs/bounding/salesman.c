// The travelling salesman by branch and bound: each thread tries the tours that begin with its cities, and all of them
// share the length of the best one.
//
// usage: salesman CITIES    prints the length of the shortest tour
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, MOST = 16 };

static int cities, distance[MOST][MOST];
static int best = 1 << 30;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Tour {
    int length, visited, at, cities[MOST];
};

static int shortest(void) {
    pthread_mutex_lock(&lock);
    int length = best;
    pthread_mutex_unlock(&lock);
    return length;
}

static void search(struct Tour *tour, int *bound) {
    int last = tour->cities[tour->at - 1];
    if (tour->at == cities) {
        int length = tour->length + distance[last][tour->cities[0]];
        if (length < *bound) {
            pthread_mutex_lock(&lock);
            if (length < best)
                best = length;
            *bound = best;
            pthread_mutex_unlock(&lock);
        }
        return;
    }
    for (int next = 0; next < cities; next++) {
        int length = tour->length + distance[last][next];
        if ((tour->visited >> next & 1) || length >= *bound)
            continue;
        tour->length = length;
        tour->visited |= 1 << next;
        tour->cities[tour->at++] = next;
        search(tour, bound);
        tour->at--;
        tour->visited &= ~(1 << next);
        tour->length = length - distance[last][next];
    }
}

static void *work(void *argument) {
    struct Tour *tour = malloc(sizeof *tour);
    for (int second = 1 + (int)(long)argument; second < cities; second += THREADS) {
        int bound = shortest();
        *tour = (struct Tour){.length = distance[0][second], .visited = 1 | 1 << second, .at = 2, .cities = {0, second}};
        search(tour, &bound);
    }
    free(tour);
    return NULL;
}

int main(int argc, char **argv) {
    cities = argc > 1 ? atoi(argv[1]) : 11;
    if (cities < 3 || cities > MOST)
        return 2;
    unsigned random = 7;
    for (int a = 0; a < cities; a++)
        for (int b = 0; b < a; b++) {
            random = random * 1664525U + 1013904223U;
            distance[a][b] = distance[b][a] = 10 + (int)(random >> 26);
        }
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", best);
    return 0;
}
