// verdict: race C
// A branch that is never taken: what is left of a division is less than what it is divided by.
#include <pthread.h>
#include <stdlib.h>

static int total;
static unsigned count;

static void *add(void *argument) {
  unsigned rest = count % 4;
  if (rest > 2)
    total++;
  return argument;
}

int main(void) {
  pthread_t one, two;
  const char *text = getenv("RACEHUNTER_COUNT");
  count = text ? (unsigned)atoi(text) : 7;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, add, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return total;
}
