// verdict: race-free A
// One thread has the even elements, and the other the odd ones.
#include <pthread.h>

#define N 8

static int numbers[N];

static void *even(void *argument) {
  for (int i = 0; i < N; i += 2)
    numbers[i] = i;
  return argument;
}

static void *odd(void *argument) {
  for (int i = 1; i < N; i += 2)
    numbers[i] = i;
  return argument;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, even, 0);
  pthread_create(&two, 0, odd, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return numbers[0];
}
