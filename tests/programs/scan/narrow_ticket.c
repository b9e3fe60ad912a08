// verdict: race
// The counter begins again after 256 numbers.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic unsigned char next;
static int numbers[256];

static void *take(void *argument) {
  for (int i = 0; i < 300; i++)
    numbers[atomic_fetch_add(&next, 1)] = 1;
  return argument;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, take, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
