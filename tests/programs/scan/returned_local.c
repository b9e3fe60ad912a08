// verdict: unknown
// The local variable is over when the function returns; executions do not show that.
#include <pthread.h>

static void *set(void *argument) {
  *(int *)argument = 1;
  return argument;
}

static void start(void) {
  int local = 0;
  pthread_t thread;
  pthread_create(&thread, 0, set, &local);
}

int main(void) {
  start();
  return 0;
}
