// verdict: race C
// Who writes which elements is decided by a branch on an input.
#include <pthread.h>
#include <stdlib.h>

#define N 10

static int numbers[N];
static int where;

static void *low(void *argument) {
  int i = where;
  if (i >= 0 && i < N / 2)
    numbers[i] = 1;
  return argument;
}

static void *high(void *argument) {
  unsigned i = (unsigned)where;
  if (i < N && i <= N / 2)
    numbers[i] = 2;
  return argument;
}

int main(void) {
  pthread_t one, two;
  const char *text = getenv("RACEHUNTER_WHERE");
  where = text ? atoi(text) : 4;
  pthread_create(&one, 0, low, 0);
  pthread_create(&two, 0, high, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return numbers[0];
}
