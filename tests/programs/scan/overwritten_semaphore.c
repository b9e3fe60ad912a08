// verdict: race
// A semaphore that begins with one becomes a copy of one that begins with two.
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static sem_t one, two;
static int counter;

static void *add(void *argument) {
  sem_wait(&one);
  counter++;
  sem_post(&one);
  return argument;
}

int main(void) {
  pthread_t threads[2];
  sem_init(&two, 0, 2);
  sem_init(&one, 0, 1);
  memcpy(&one, &two, sizeof one);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
