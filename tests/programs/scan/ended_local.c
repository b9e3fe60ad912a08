// verdict: race
// A thread reads a local of a function that is over: another function's locals are there by then.
#include <pthread.h>

static pthread_t thread;

static void *look(void *argument) {
  return *(int *)argument ? argument : 0;
}

static void begin(void) {
  int local[8] = {1};
  pthread_create(&thread, 0, look, local);
}

static void fill(int *numbers) {
  for (int i = 0; i < 8; i++)
    numbers[i] = i;
}

static void use(void) {
  int numbers[8];
  fill(numbers);
}

int main(void) {
  begin();
  use();
  pthread_join(thread, 0);
  return 0;
}
