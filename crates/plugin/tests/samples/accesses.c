// One function for each kind of operation; the tests look at the hooks that each of them gets.
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct block {
  long words[8];
};

int counter;
volatile int flag;
char small;
short medium;
double real;
__int128 wide;
long double extended;
_Atomic int shared;
_Atomic(char *) pointer;
_Atomic __int128 pair;
struct block first, second;
static const int table[4] = {1, 2, 3, 4};
_Thread_local int own;

extern int unknown(int);
extern void keep(void *);
extern void take(struct block);

void increment(void) { counter++; }
int read_volatile(void) { return flag; }
void write_sizes(void) { small = 1; medium = 2; real = 3; }
void write_wide(__int128 value) { wide = value; }
long double read_extended(void) { return extended; }
void copy(void) { first = second; }
void clear(size_t size) { memset(&first, 0, size); }
void move(size_t size) { memmove(&first, &second, size); }
int constant(int index) { return table[index & 3]; }
int thread_own(void) { return own++; }
void by_value(void) { take(first); }

int fetch_add(void) { return atomic_fetch_add_explicit(&shared, 1, memory_order_acq_rel); }
int load_acquire(void) { return atomic_load_explicit(&shared, memory_order_acquire); }
void store_release(void) { atomic_store_explicit(&shared, 1, memory_order_release); }
_Bool exchange(int expected) {
  return atomic_compare_exchange_strong_explicit(&shared, &expected, 7, memory_order_seq_cst, memory_order_relaxed);
}
_Bool exchange_pointer(char *expected) { return atomic_compare_exchange_strong(&pointer, &expected, &small); }
void fence(void) { atomic_thread_fence(memory_order_seq_cst); }
void signal_fence(void) { atomic_signal_fence(memory_order_seq_cst); }

int local(int n) {
  int values[16];
  for (int i = 0; i < n; i++)
    values[i & 15] = unknown(i);
  return values[n & 15];
}
int plain;
void spin(void) {
  int once = plain;
  while (once) {
    __asm__ volatile("");
  }
}
_Atomic int ready;
void poll(void) {
  while (!ready) {
  }
}
int escaped(void) {
  int value = 0;
  keep(&value);
  return value;
}
size_t length(const char *text) { return strlen(text); }
int compare(const char *a, const char *b, size_t n) { return memcmp(a, b, n); }

int branch(int n) { return n > counter ? unknown(n) : 0; }
int choose(int n) {
  switch (n) {
  case 1: return unknown(10);
  case 5: return unknown(50);
  case 9: return unknown(90);
  case 12: return unknown(120);
  default: return counter;
  }
}
int indirect(int (*function)(int), int n) { return function(n) + 1; }

int tail(int n) {
  counter = n;
  __attribute__((musttail)) return unknown(n);
}

static jmp_buf buffer;
int jump(void) {
  if (setjmp(buffer))
    return counter;
  return unknown(1);
}

__attribute__((no_sanitize("thread"))) int unseen(int n) {
  counter = n;
  return unknown(n) + atomic_load(&shared);
}
__attribute__((disable_sanitizer_instrumentation)) int untouched(int n) {
  counter = n;
  return unknown(n);
}
__attribute__((naked)) void bare(void) { __asm__("ret"); }
int nothing(int a, int b) { return a + b; }

static int implementation(void) { return counter; }
static int (*resolve(void))(void) { return implementation; }
int chosen(void) __attribute__((ifunc("resolve")));

int assembler(int value) {
  int result;
  __asm__ volatile("movl %1, %0" : "=r"(result) : "r"(value) : "memory");
  return result;
}
uint64_t labels(int n) {
  static void *targets[] = {&&one, &&two};
  goto *targets[n & 1];
one:
  return counter;
two:
  return 2;
}
