// verdict: race
// A lock on the stack of each thread, and one that is thread-local, exclude nobody.
#include <pthread.h>

static _Thread_local pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *argument) {
  pthread_mutex_t local;
  pthread_mutex_init(&local, 0);
  pthread_mutex_lock(&local);
  pthread_mutex_lock(&own);
  counter++;
  pthread_mutex_unlock(&own);
  pthread_mutex_unlock(&local);
  return argument;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
