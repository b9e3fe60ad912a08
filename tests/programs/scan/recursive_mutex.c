// verdict: race
// A recursive mutex is free again when it was given back as often as it was taken: here that is before the second write.
#include <pthread.h>

pthread_mutex_t lock;
int balance;

static void add(int amount) {
  pthread_mutex_lock(&lock);
  balance += amount;
  pthread_mutex_unlock(&lock);
}

void *work(void *unused) {
  pthread_mutex_lock(&lock);
  add(1);
  pthread_mutex_unlock(&lock);
  balance += 1;
  return 0;
}

int main(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &recursive);
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
