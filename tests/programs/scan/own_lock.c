// verdict: race
// Each thread takes a lock of its own, at the same distance from what it was given.
#include <pthread.h>
#include <stdlib.h>

struct connection {
  pthread_mutex_t lock;
  long bytes;
};

static long total;

static void *serve(void *argument) {
  struct connection *connection = argument;
  pthread_mutex_lock(&connection->lock);
  connection->bytes++;
  total++;
  pthread_mutex_unlock(&connection->lock);
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    struct connection *connection = calloc(1, sizeof *connection);
    pthread_mutex_init(&connection->lock, 0);
    pthread_create(&threads[i], 0, serve, connection);
  }
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
