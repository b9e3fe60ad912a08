// Molecular dynamics: particles in a box that push each other away. Each thread moves its own part of them.
//
// usage: molecules STEPS    prints a checksum that does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PARTICLES = 256 };

static double position[PARTICLES][3], velocity[PARTICLES][3], force[PARTICLES][3];
static double potential;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long steps;

static double push(int of) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        force[of][axis] = 0;
    for (int other = 0; other < PARTICLES; other++) {
        if (other == of)
            continue;
        double away[3], square = 0.01;
        for (int axis = 0; axis < 3; axis++) {
            away[axis] = position[of][axis] - position[other][axis];
            square += away[axis] * away[axis];
        }
        double strength = 1.0 / (square * square);
        sum += 0.5 / square;
        for (int axis = 0; axis < 3; axis++)
            force[of][axis] += away[axis] * strength;
    }
    return sum;
}

static void *simulate(void *argument) {
    int first = (int)(long)argument * PARTICLES / THREADS, end = first + PARTICLES / THREADS;
    for (long step = 0; step < steps; step++) {
        double sum = 0;
        for (int i = first; i < end; i++)
            sum += push(i);
        pthread_mutex_lock(&lock);
        potential += sum > 1e9 ? 1 : 0;
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&barrier);
        for (int i = first; i < end; i++)
            for (int axis = 0; axis < 3; axis++) {
                velocity[i][axis] += force[i][axis] * 1e-4;
                position[i][axis] += velocity[i][axis] * 1e-4;
            }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    steps = argc > 1 ? atol(argv[1]) : 40;
    for (int i = 0; i < PARTICLES; i++)
        for (int axis = 0; axis < 3; axis++)
            position[i][axis] = (i * (axis + 7) * 37 % 101) / 10.0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, simulate, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double sum = potential;
    for (int i = 0; i < PARTICLES; i++)
        sum += position[i][0] + position[i][1] + position[i][2];
    printf("%.12g\n", sum);
    return 0;
}
