// verdict: unknown
// What happens only if memory is short is never executed.
#include <pthread.h>
#include <stdlib.h>

static int counter;

static void *add(void *argument) {
  counter++;
  return argument;
}

int main(void) {
  pthread_t one, two;
  if (malloc(100))
    return 0;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, add, 0);
  return 0;
}
