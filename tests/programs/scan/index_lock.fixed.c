// verdict: race-free A
// A lock for each bucket; the number of the bucket is computed twice.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t locks[8];
static struct {
  unsigned keys[4];
  int used;
} table[8];

static void *insert(void *argument) {
  unsigned key = (unsigned)rand();
  pthread_mutex_lock(&locks[key % 8]);
  table[key % 8].keys[key / 8 % 4] = key;
  table[key % 8].used++;
  pthread_mutex_unlock(&locks[key % 8]);
  return argument;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 8; i++)
    pthread_mutex_init(&locks[i], 0);
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, insert, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return table[0].used;
}
