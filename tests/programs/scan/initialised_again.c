// verdict: race
// Each thread makes the lock anew, while another one may hold it.
#include <pthread.h>

static pthread_mutex_t lock;
static int counter;

static void *add(void *argument) {
  pthread_mutex_init(&lock, 0);
  pthread_mutex_lock(&lock);
  counter++;
  pthread_mutex_unlock(&lock);
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
