// verdict: race
// The lock of a bucket, and the bucket beside it.
#include <pthread.h>

static pthread_mutex_t locks[4];
static int table[5];

static void *insert(void *argument) {
  long key = (long)argument;
  pthread_mutex_lock(&locks[key % 4]);
  table[key % 4 + 1]++;
  table[key % 4]++;
  pthread_mutex_unlock(&locks[key % 4]);
  return argument;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 4; i++)
    pthread_mutex_init(&locks[i], 0);
  for (long i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, insert, (void *)i);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return table[0];
}
