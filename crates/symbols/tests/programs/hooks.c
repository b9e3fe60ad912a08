// Stands in for the runtime: prints the kind and the relative return address of every instrumented access.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

extern const char __ehdr_start;
#define LOG(kind) printf("%s %lx\n", kind, (unsigned long)((char *)__builtin_return_address(0) - &__ehdr_start))

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {}
void __tsan_func_exit(void) {}
#define PLAIN(size)                                                                                                    \
  void __tsan_read##size(void *at) { LOG("r"); }                                                                       \
  void __tsan_write##size(void *at) { LOG("w"); }                                                                      \
  void __tsan_unaligned_read##size(void *at) { LOG("r"); }                                                             \
  void __tsan_unaligned_write##size(void *at) { LOG("w"); }
PLAIN(1) PLAIN(2) PLAIN(4) PLAIN(8) PLAIN(16)
void __tsan_volatile_read4(void *at) { LOG("r"); }
int __tsan_atomic32_load(const int *at, int order) { LOG("r"); return *at; }
void __tsan_atomic32_store(int *at, int value, int order) { LOG("w"); *at = value; }
int __tsan_atomic32_fetch_add(int *at, int value, int order) { LOG("w"); int old = *at; *at += value; return old; }
void *__tsan_memcpy(void *to, const void *from, size_t size) { LOG("w"); LOG("r"); return memmove(to, from, size); }
void *__tsan_memset(void *to, int byte, size_t size) { LOG("w"); return memset(to, byte, size); }
