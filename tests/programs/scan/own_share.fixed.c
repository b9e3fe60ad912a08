// verdict: race-free A
// Each thread of a crew computes the range of its share from its number.
#include <pthread.h>

#define THREADS 3
#define SHARE 4

static int numbers[THREADS * SHARE + 1];

static void *fill(void *argument) {
  int number = (int)(long)argument;
  int begin = number * SHARE, end = (number + 1) * SHARE;
  for (int i = begin; i < end; i++)
    numbers[i] = number;
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, fill, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return numbers[0];
}
