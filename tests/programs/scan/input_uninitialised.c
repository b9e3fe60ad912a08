// verdict: unknown
// A value that is not initialised may be any, whatever it is in executions.
#include <pthread.h>
#include <stdlib.h>

static int counter;

static void *add(void *argument) {
  counter++;
  return argument;
}

int main(void) {
  pthread_t one, two;
  int *numbers = malloc(4 * sizeof *numbers);
  numbers[0] = 1;
  if (numbers[1] == 77) {
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
  }
  return 0;
}
