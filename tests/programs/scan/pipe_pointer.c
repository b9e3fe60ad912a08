// verdict: race
// The address of the lock comes back through a pipe.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static int value;

static void *first(void *argument) {
  pthread_mutex_t *received;
  pthread_mutex_lock(&lock);
  read(ends[0], &received, sizeof received);
  pthread_mutex_unlock(received);
  value = 1;
  return argument;
}

static void *second(void *argument) {
  pthread_mutex_lock(&lock);
  value = 2;
  pthread_mutex_unlock(&lock);
  return argument;
}

int main(void) {
  pthread_t one, two;
  pthread_mutex_t *sent = &lock;
  pipe(ends);
  write(ends[1], &sent, sizeof sent);
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
