// Loops of many shapes, once with hooks and once without: what they compute must be the same.
#include <string.h>

enum { N = 64 };
int watched[N];
struct Node { int number; struct Node *next; } nodes[N];

#define LOOPS(name, attribute)                                                                                         \
  attribute static long name##_sum(const int *a, int n) {                                                              \
    long sum = 0;                                                                                                      \
    for (int i = 0; i < n; i++)                                                                                        \
      sum += a[i] * (long)i;                                                                                           \
    return sum;                                                                                                        \
  }                                                                                                                    \
  /* Two exits, and values that are used behind the loop. */                                                           \
  attribute static int name##_find(const int *a, int n, int wanted, int *place) {                                      \
    int last = -1, i = 0;                                                                                              \
    for (; i < n; i++) {                                                                                               \
      if (a[i] == wanted)                                                                                              \
        break;                                                                                                         \
      if (a[i] > 1 << 20)                                                                                              \
        return last;                                                                                                   \
      last = a[i];                                                                                                     \
    }                                                                                                                  \
    *place = i;                                                                                                        \
    return last + i;                                                                                                   \
  }                                                                                                                    \
  /* Several ways through a round, with different numbers of accesses, and rounds without any. */                      \
  attribute static long name##_mix(int *a, int n, long seed) {                                                         \
    long odd = 0, even = seed;                                                                                         \
    for (int i = 1; i < n; i++) {                                                                                      \
      switch ((seed >> i % 7) & 3) {                                                                                   \
      case 0:                                                                                                          \
        odd += i;                                                                                                      \
        continue;                                                                                                      \
      case 1:                                                                                                          \
        a[i] = a[i - 1] + (int)even;                                                                                   \
        break;                                                                                                         \
      case 2:                                                                                                          \
        odd += a[i];                                                                                                   \
        even ^= a[n - i];                                                                                              \
        break;                                                                                                         \
      default:                                                                                                         \
        a[i] ^= a[(i * 7) % n];                                                                                        \
        seed = seed * 31 + a[i];                                                                                       \
      }                                                                                                                \
      even += odd & 3;                                                                                                 \
    }                                                                                                                  \
    return odd * 3 + even + seed;                                                                                      \
  }                                                                                                                    \
  /* Loops that lead into each other, inside of another one. */                                                        \
  attribute static long name##_nest(int *a, int n) {                                                                   \
    long sum = 0;                                                                                                      \
    for (int row = 1; row < 5; row++) {                                                                                \
      int column = 0;                                                                                                  \
      for (; column < n && a[column] % (row + 1); column++)                                                            \
        sum += a[column];                                                                                              \
      for (; column < n; column += row)                                                                                \
        a[column] += (int)(sum & 15);                                                                                  \
      while (sum > 1000000)                                                                                            \
        sum /= 3;                                                                                                      \
    }                                                                                                                  \
    return sum;                                                                                                        \
  }                                                                                                                    \
  attribute static int name##_list(struct Node *node, int wanted) {                                                    \
    int passed = 0;                                                                                                    \
    while (node && node->number != wanted) {                                                                           \
      passed += node->number & 1;                                                                                      \
      node = node->next;                                                                                               \
    }                                                                                                                  \
    return node ? passed : -passed;                                                                                    \
  }                                                                                                                    \
  attribute static void name##_copy(int *a, int n) {                                                                   \
    for (int i = 8; i + 4 < n; i += 4)                                                                                 \
      __builtin_memcpy(a + i, a + i - 8, 16);                                                                          \
  }                                                                                                                    \
  attribute __attribute__((noinline)) long name(void) {                                                                \
    for (int i = 0; i < N; i++) {                                                                                      \
      watched[i] = i * i % 23 - 3;                                                                                     \
      nodes[i] = (struct Node){i, i + 1 < N ? &nodes[i + 1] : 0};                                                      \
    }                                                                                                                  \
    int place = 0;                                                                                                     \
    long result = name##_sum(watched, N) + name##_find(watched, N, 19, &place) * 3 + place;                            \
    result = result * 31 + name##_find(watched, N, 5000, &place) + place;                                              \
    for (long seed = 1; seed < 6; seed++)                                                                              \
      result = result * 31 + name##_mix(watched, N, seed * 0x9e3779b1);                                                \
    result = result * 31 + name##_nest(watched, N) + name##_list(nodes, 40) + name##_list(nodes, 400);                 \
    name##_copy(watched, N);                                                                                           \
    return result * 31 + name##_sum(watched, N);                                                                       \
  }

LOOPS(with, )
LOOPS(without, __attribute__((disable_sanitizer_instrumentation)))

int main(void) { return with() == without() ? 0 : 1; }
