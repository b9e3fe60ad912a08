// verdict: race C
// `%n` writes, and so does the ninth conversion of `sscanf`.
#include <pthread.h>
#include <stdio.h>

static int value;

static void *first(void *argument) {
  int other[8];
  if (argument)
    printf("abc%n", &value);
  else
    sscanf("1 2 3 4 5 6 7 8 9", "%d%d%d%d%d%d%d%d%d", other, other + 1, other + 2, other + 3, other + 4, other + 5,
           other + 6, other + 7, &value);
  return argument;
}

static void *second(void *argument) {
  value = 2;
  return argument;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
