// verdict: race
// One thread uses what another one frees.
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *use(void *argument) {
  shared[0] = 1;
  return argument;
}

static void *release(void *argument) {
  free(shared);
  return argument;
}

int main(void) {
  pthread_t one, two;
  shared = malloc(4);
  pthread_create(&one, 0, use, 0);
  pthread_create(&two, 0, release, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
