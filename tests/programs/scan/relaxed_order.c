// verdict: unknown
// Both loads may find zero, which executions with one memory for all never show.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int saw_x, saw_y, counter;

static void *first(void *argument) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  saw_y = atomic_load_explicit(&y, memory_order_relaxed);
  return argument;
}

static void *second(void *argument) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  saw_x = atomic_load_explicit(&x, memory_order_relaxed);
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
