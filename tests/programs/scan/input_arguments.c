// verdict: unknown
// Without an argument there are no threads, and executions have none.
#include <pthread.h>
#include <stdlib.h>

static int counter;

static void *add(void *argument) {
  counter++;
  return argument;
}

int main(int count, char **words) {
  if (count < 2)
    return 1;
  int threads = atoi(words[1]);
  pthread_t thread;
  for (int i = 0; i < threads; i++)
    pthread_create(&thread, 0, add, 0);
  return 0;
}
