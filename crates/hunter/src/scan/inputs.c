/* Inputs of verification tasks, and a limit for the threads that they create. Inputs are drawn from a list of values, by a number that the controller chooses. The same number
   gives the same inputs in every schedule, provided that the threads ask in the same order. Weak, so that a program can
   define its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

/* Marks this module for the compiler plugin as not part of the program. */
__attribute__((used)) static const char __racehunter_support = 1;

#define WEAK __attribute__((weak))
/* The call seems to come from the program, so that reports name its line and not one in here. */
#define TAIL __attribute__((musttail))

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

/* The first sets are constant: many programs need all their inputs to be true, or small, or zero. Others need different
   or ascending ones. */
static long long next(void) {
  static long long up = 0, down = 9;
  switch (mode) {
  case 0: return 1;
  case 1: return 0;
  case 2: return 3;
  case 3: return 10;
  case 4: return up++;
  case 5: return down ? down-- : 0;
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

static sem_t never;
static void wait_for_ever(void) {
  for (;;)
    sem_wait(&never);
}

static pthread_mutex_t alone = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_t owner;
static unsigned depth;
WEAK void __VERIFIER_atomic_begin(void) {
  pthread_mutex_lock(&alone);
  owner = pthread_self();
  depth++;
}
WEAK void __VERIFIER_atomic_end(void) {
  depth--;
  pthread_mutex_unlock(&alone);
}

/* An execution in which an assumption does not hold does not count. But a thread that is about to find that out may take as
   long as it likes, and the others continue meanwhile. If it has written nothing in its atomic section by then, it might as
   well not have entered it. */
static void end_later(void) {
#ifdef SECTIONS_ARE_CLEAN
  while (depth && pthread_equal(owner, pthread_self()))
    __VERIFIER_atomic_end();
#endif
  wait_for_ever();
}
WEAK void __VERIFIER_assume(int holds) {
  if (!holds)
    end_later();
}
WEAK void reach_error(void) { end_later(); }
WEAK void __VERIFIER_error(void) { end_later(); }

/* For programs that create thousands of threads, or threads without end: those beyond the limit are never scheduled. Such an
   execution is the prefix of a possible one, in which a thread that joins such a thread waits for ever. */
#define NOBODY 0x5261636500000000ul
static unsigned long created;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_pthread_join(pthread_t, void **);
int __real_pthread_detach(pthread_t);

static int is_nobody(pthread_t thread) { return (thread & ~0xfffffffful) == NOBODY; }

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *), void *argument) {
  if (created++ < most_threads)
    TAIL return __real_pthread_create(thread, attributes, entry, argument);
  if (created > most_threads + 20000)
    wait_for_ever();
  *thread = NOBODY + (created & 0xffffffff);
  return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result) {
  if (is_nobody(thread))
    wait_for_ever();
  TAIL return __real_pthread_join(thread, result);
}

int __wrap_pthread_detach(pthread_t thread) {
  if (is_nobody(thread))
    return 0;
  TAIL return __real_pthread_detach(thread);
}

#ifdef IS_TASK
void __wrap_abort(void) { end_later(); }
void __wrap___assert_fail(const char *what, const char *file, unsigned line, const char *function) { end_later(); }

/* Tasks are preprocessed for a 32-bit machine, and have room only for its objects. Those of this machine are larger: the
   memory behind belongs to something else in the program, and stays unchanged. Executions keep nothing there except whether
   writers go first. */
#define INIT(name, type, kind, bytes)                                                                                  \
  int __real_##name(type *, const kind *);                                                                             \
  int __wrap_##name(type *object, const kind *attributes) {                                                            \
    char behind[sizeof *object - bytes];                                                                               \
    memcpy(behind, (char *)object + bytes, sizeof behind);                                                             \
    int result = __real_##name(object, attributes);                                                                    \
    memcpy((char *)object + bytes, behind, sizeof behind);                                                             \
    return result;                                                                                                     \
  }
INIT(pthread_mutex_init, pthread_mutex_t, pthread_mutexattr_t, 24)
INIT(pthread_rwlock_init, pthread_rwlock_t, pthread_rwlockattr_t, 32)
#endif
