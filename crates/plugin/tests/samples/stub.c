// A runtime that does nothing but write down which hooks are called. Not instrumented itself.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define HOOK __attribute__((preserve_most)) void

struct module {
  uint64_t content_hash;
  uint8_t *sites;
  uint32_t site_count;
  uint32_t format_version;
};

static void *frames[1 << 16];
void *__rh_stack = frames;
uint8_t __rh_tracing;
static int64_t budget = 1L << 40;
int64_t RH_BUDGET;
uint64_t __rh_look_from, __rh_look_bytes = UINT64_MAX;
__attribute__((weak)) int watched[64];
static const struct module *modules[64];
static int module_count;
static FILE *out;

static void finish(void) { fprintf(out, "end %td %ld\n", (void **)__rh_stack - frames, budget - RH_BUDGET); }

void __rh_register_module(const struct module *module) {
  if (!out) {
    const char *path = getenv("STUB_LOG");
    out = path ? fopen(path, "w") : stderr;
    if (!out)
      abort();
    atexit(finish);
    __rh_tracing = getenv("STUB_TRACE") != NULL;
    if (getenv("STUB_BUDGET"))
      budget = atol(getenv("STUB_BUDGET"));
    RH_BUDGET = budget;
    // Nothing is looked at but this element.
    if (getenv("STUB_WATCH")) {
      __rh_look_from = (uint64_t)&watched[atol(getenv("STUB_WATCH"))];
      __rh_look_bytes = 1;
    }
  }
  if (getenv("STUB_CLEAR"))
    __rh_look_bytes = 0;
  // What begins a region may be skipped.
  for (uint32_t i = 0; getenv("STUB_CLEAR") && i < module->site_count; i++)
    if (module->sites[i] & 0x20)
      module->sites[i] |= 0x80;
  modules[module_count++] = module;
  fprintf(out, "module %016lx %u\n", module->content_hash, module->site_count);
}
void __rh_register_replaceable(void *const *functions, uint64_t count) {}
void __tsan_init(void) {}

static void note(const char *hook, const uint8_t *site, uint64_t a, uint64_t b) {
  for (int i = 0; i < module_count; i++)
    if (site >= modules[i]->sites && site < modules[i]->sites + modules[i]->site_count) {
      fprintf(out, "%s %016lx %td %lx %lx %td\n", hook, modules[i]->content_hash, site - modules[i]->sites, a, b,
              ((void **)__rh_stack - frames) / 2);
      return;
    }
  fprintf(out, "%s without a module\n", hook);
}

#define PLAIN(name)                                                                                                    \
  HOOK __rh_##name(void *address, const uint8_t *site) { note(#name, site, (uint64_t)address, 0); }
PLAIN(read1) PLAIN(read2) PLAIN(read4) PLAIN(read8) PLAIN(write1) PLAIN(write2) PLAIN(write4) PLAIN(write8)
PLAIN(vptr_read)
HOOK __rh_vptr_update(void *address, const uint8_t *site, void *value) {
  note("vptr_update", site, (uint64_t)address, (uint64_t)value);
}
HOOK __rh_read_range(void *address, uint64_t length, const uint8_t *site) {
  note("read_range", site, (uint64_t)address, length);
}
HOOK __rh_write_range(void *address, uint64_t length, const uint8_t *site) {
  note("write_range", site, (uint64_t)address, length);
}
#define ATOMIC(name)                                                                                                   \
  HOOK __rh_##name(void *address, const uint8_t *site, uint32_t info) { note(#name, site, (uint64_t)address, info); }
ATOMIC(atomic_load) ATOMIC(atomic_store) ATOMIC(atomic_rmw)
HOOK __rh_cmpxchg(void *address, const uint8_t *site, uint32_t info, uint64_t expected) {
  note("cmpxchg", site, info, expected);
}
HOOK __rh_cmpxchg16(void *address, const uint8_t *site, uint32_t info, uint64_t low, uint64_t high) {
  note("cmpxchg16", site, info, low ^ high);
}
HOOK __rh_fence(const uint8_t *site, uint32_t order) { note("fence", site, order, 0); }
HOOK __rh_lib_string(void *a, void *b, uint64_t n, const uint8_t *site, uint32_t which) {
  note("lib_string", site, which, n);
}
HOOK __rh_branch(const uint8_t *site, uint64_t value) { note("branch", site, value, 0); }
HOOK __rh_enter(const uint8_t *site) { note("enter", site, 0, 0); }
HOOK __rh_leave(const uint8_t *site) { note("leave", site, 0, 0); }
HOOK __rh_round(void) {}
HOOK __rh_call(const uint8_t *site, void *callee) { note("call", site, (uint64_t)callee, 0); }
HOOK __rh_reached(const char *description, uint8_t *gate, void *function, uint64_t first, uint64_t second) {}
HOOK __rh_reached_through(void *function) {}
HOOK __rh_wrote(void *address, uint64_t length) {}
HOOK __rh_scope_begin(void *address, uint64_t length) {}
HOOK __rh_scope_end(void *address, uint64_t length) {}

/* The wrapper names these to the linker if another sanitizer takes part. */
int __sigaction(int number, const void *action, void *old)
{
    (void)number, (void)action, (void)old;
    return 0;
}

void *bsd_signal(int number, void *handler)
{
    (void)number;
    return handler;
}
