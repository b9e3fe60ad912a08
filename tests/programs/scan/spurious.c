// verdict: race
// A wait for a condition may end although nobody has signalled.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int value;

static void *produce(void *argument) {
  value = 1;
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&lock);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  pthread_create(&thread, 0, produce, 0);
  pthread_cond_wait(&condition, &lock);
  pthread_mutex_unlock(&lock);
  value = 2;
  pthread_join(thread, 0);
  return 0;
}
