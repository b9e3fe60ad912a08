// verdict: race-free A
// Each thread of a loop finds the bounds of its share in a structure of its own.
#include <pthread.h>
#include <stdlib.h>

#define THREADS 3
#define SHARE 2

struct share {
  int unused;
  int begin, end;
};

static int numbers[THREADS * SHARE + 1];

static void *count(void *argument) {
  struct share *share = argument;
  for (int i = share->begin; i < share->end; i++)
    numbers[i]++;
  return 0;
}

int main(void) {
  struct share *shares = malloc(THREADS * sizeof *shares);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    shares[i].begin = i * SHARE;
    shares[i].end = (i + 1) * SHARE;
    pthread_create(&threads[i], 0, count, &shares[i]);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  free(shares);
  return numbers[0];
}
