// verdict: race
// The variable is set back, so the function is called a second time.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value;

static void initialise(void) { value++; }

static void *other(void *argument) {
  pthread_once(&once, initialise);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_once(&once, initialise);
  once = (pthread_once_t)PTHREAD_ONCE_INIT;
  pthread_create(&thread, 0, other, 0);
  int seen = value;
  pthread_join(thread, 0);
  return seen > 2;
}
