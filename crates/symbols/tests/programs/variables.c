// Prints names of places together with their relative addresses.
#include <pthread.h>
#include <stdio.h>

struct node { int value; struct node *next; };
struct base { short tag; };
typedef struct {
  struct base base;
  pthread_mutex_t mu;
  int count;
  struct node nodes[3];
  struct { char letter; long number; } inner;
  union { int whole; char parts[4]; } both;
  unsigned low : 3, high : 4;
} queue_t;

int counter;
static long hidden;
queue_t queue;
struct node table[5];
int matrix[3][4];
const char *const names[2] = {"a", "b"};
volatile _Atomic int flag;
_Thread_local struct { int one; int two[4]; } local;

extern const char __ehdr_start;
static unsigned long relative(const volatile void *at) { return (unsigned long)((const char *)at - &__ehdr_start); }
#define PLACE(expression) printf("data %lx %s\n", relative(&(expression)), #expression)

__attribute__((noinline)) static void here(const char *name) {
  printf("code %lx %s\n", relative(__builtin_return_address(0)), name);
  __asm__ volatile("");
}

static inline __attribute__((always_inline)) void innermost(void) { here("innermost"); }
static inline __attribute__((always_inline)) void middle(void) {
  innermost();
}

__attribute__((noinline)) static void outer(void) {
  middle();
  __asm__ volatile("");
}

static int *remembered(void) {
  static int calls;
  return &calls;
}

int main(void) {
  PLACE(counter);
  PLACE(hidden);
  PLACE(queue.base.tag);
  PLACE(queue.mu);
  PLACE(queue.count);
  PLACE(queue.nodes[2].value);
  PLACE(queue.nodes[1].next);
  PLACE(queue.inner.letter);
  PLACE(queue.inner.number);
  PLACE(queue.both);
  PLACE(table[0].value);
  PLACE(table[4].next);
  PLACE(matrix[0][0]);
  PLACE(matrix[2][3]);
  PLACE(names[1]);
  PLACE(flag);
  printf("data %lx calls\n", relative(remembered()));
  printf("tls %lx local.two[2]\n", (unsigned long)((char *)&local.two[2] - (char *)&local));
  outer();
  return 0;
}
