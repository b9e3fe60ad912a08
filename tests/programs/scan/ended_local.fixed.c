// verdict: race-free A
// The function waits for the thread that reads its local.
#include <pthread.h>

static pthread_t thread;

static void *look(void *argument) {
  return *(int *)argument ? argument : 0;
}

static void begin(void) {
  int local[8] = {1};
  pthread_create(&thread, 0, look, local);
  pthread_join(thread, 0);
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
  return 0;
}
