/* Inputs of verification tasks, and a limit for the threads that they create. Inputs are drawn from a list of values, by a number that the controller chooses. The same number
   gives the same inputs in every schedule as far as the threads ask in the same order. Weak, so that a program that has
   its own keeps it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

static long long values[64] = {0, 1};
static unsigned count = 2, mode;
static unsigned long most_threads = ~0ul;
static unsigned long long state = 1;

__attribute__((constructor)) static void take_values(int argc, char **argv) {
  static const char name[] = "--racehunter-inputs=";
  if (argc < 2 || strncmp(argv[argc - 1], name, sizeof name - 1))
    return;
  char *at = argv[argc - 1] + sizeof name - 1;
  mode = strtoul(at, &at, 10);
  if (*at)
    most_threads = strtoul(at + 1, &at, 10);
  state = mode * 0x9e3779b97f4a7c15ull + 1;
  for (count = 0; *at && count < 64; count++)
    values[count] = strtoll(at + 1, &at, 10);
  if (!count)
    count = 1;
}

/* The first sets are constant: many programs want all their inputs to be true, or small, or zero. */
static long long next(void) {
  switch (mode) {
  case 0: return 1;
  case 1: return 0;
  case 2: return 3;
  case 3: return 10;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return values[(state >> 20) % count];
}

#define INPUT(type, name) WEAK type __VERIFIER_nondet_##name(void) { return (type)next(); }
INPUT(_Bool, bool)
INPUT(char, char)
INPUT(signed char, schar)
INPUT(unsigned char, uchar)
INPUT(short, short)
INPUT(unsigned short, ushort)
INPUT(int, int)
INPUT(unsigned, uint)
INPUT(unsigned, unsigned)
INPUT(long, long)
INPUT(unsigned long, ulong)
INPUT(long long, longlong)
INPUT(unsigned long long, ulonglong)
INPUT(unsigned, u32)
INPUT(unsigned long, size_t)
INPUT(float, float)
INPUT(double, double)
WEAK void *__VERIFIER_nondet_pointer(void) { return 0; }

/* An execution in which an assumption does not hold is none. */
WEAK void __VERIFIER_assume(int holds) {
  if (!holds)
    exit(0);
}
WEAK void reach_error(void) { exit(0); }
WEAK void __VERIFIER_error(void) { exit(0); }

static pthread_mutex_t alone = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
WEAK void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&alone); }
WEAK void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&alone); }

/* Programs that create threads by the thousand, or without end: what is beyond the limit is never scheduled. That is the
   beginning of an execution like any other, in which a thread that waits for such a thread waits for ever. */
#define NOBODY 0x5261636500000000ul
static unsigned long created;
static sem_t never;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_pthread_join(pthread_t, void **);
int __real_pthread_detach(pthread_t);

static int is_nobody(pthread_t thread) { return (thread & ~0xfffffffful) == NOBODY; }

static void wait_for_ever(void) {
  for (;;)
    sem_wait(&never);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *), void *argument) {
  if (created++ < most_threads)
    return __real_pthread_create(thread, attributes, entry, argument);
  if (created > most_threads + 20000)
    wait_for_ever();
  *thread = NOBODY + (created & 0xffffffff);
  return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result) {
  if (is_nobody(thread))
    wait_for_ever();
  return __real_pthread_join(thread, result);
}

int __wrap_pthread_detach(pthread_t thread) { return is_nobody(thread) ? 0 : __real_pthread_detach(thread); }
