// verdict: race-free
// Threads work in rounds: each reads what its neighbour has written in the round before.
#include <pthread.h>

#define THREADS 2
#define ROUNDS 3

static pthread_barrier_t barrier;
static int now[THREADS], next[THREADS];

static void *work(void *argument) {
  int own = (int)(long)argument;
  for (int i = 0; i < ROUNDS; i++) {
    next[own] = now[(own + 1) % THREADS] + 1;
    pthread_barrier_wait(&barrier);
    now[own] = next[own];
    pthread_barrier_wait(&barrier);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, THREADS);
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return now[0];
}
