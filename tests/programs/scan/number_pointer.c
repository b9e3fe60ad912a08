// verdict: race
// An address is written as text, and read again.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int value;

static void *first(void *argument) {
  char text[32];
  snprintf(text, sizeof text, "%lu", (unsigned long)&value);
  *(int *)strtoul(text, 0, 10) = 1;
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
