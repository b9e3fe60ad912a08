// verdict: race-free D
// In one order for all threads one of the loads finds a one; no other tier knows that.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int saw_x, saw_y, counter;

static void *first(void *argument) {
  atomic_store(&x, 1);
  saw_y = atomic_load(&y);
  return argument;
}

static void *second(void *argument) {
  atomic_store(&y, 1);
  saw_x = atomic_load(&x);
  return argument;
}

static void *add(void *argument) {
  counter++;
  return argument;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  if (!saw_x && !saw_y) {
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
  }
  return 0;
}
