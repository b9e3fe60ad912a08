// verdict: race
// The loop that creates the threads is in another one, which can be entered in its middle.
#include <pthread.h>

static int numbers[4];

static void *set(void *argument) {
  numbers[(long)argument] = 1;
  return argument;
}

int main(int count, char **words) {
  pthread_t thread;
  int rounds = 0;
  if (count > 5)
    goto middle;
top:
  for (long i = 0; i < 4; i++)
    pthread_create(&thread, 0, set, (void *)i);
middle:
  rounds++;
  if (rounds < count + 1)
    goto top;
  return words == 0;
}
