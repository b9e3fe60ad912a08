// verdict: race C
// Each thread gets the bounds of its half of an array.
#include <pthread.h>

#define N 8

struct half {
  int begin, end;
};

static int numbers[N];

static void *clear(void *argument) {
  struct half *half = argument;
  for (int i = half->begin; i < half->end; i++)
    numbers[i] = 0;
  return 0;
}

int main(void) {
  struct half left, right;
  pthread_t one, two;
  left.begin = 0;
  left.end = N / 2 + 1;
  right.begin = N / 2;
  right.end = N;
  pthread_create(&one, 0, clear, &left);
  pthread_create(&two, 0, clear, &right);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return numbers[0];
}
