//~ about: a plain race, by many options of the compiler
//~ revisions: lto thinlto o3 native nopie large profile coverage instrument undefined sections hidden pg nobuiltin openmp stackprot savetemps embed unwind gz
//~[lto] flags: -O2 -flto -fuse-ld=lld
//~[thinlto] flags: -O2 -flto=thin -fuse-ld=lld
//~[o3] flags: -O3
//~[native] flags: -O2 -march=native
//~[nopie] flags: -fno-pie -no-pie
//~[large] flags: -mcmodel=large
//~[profile] flags: -fprofile-instr-generate
//~[coverage] flags: --coverage
//~[instrument] flags: -finstrument-functions
//~[undefined] flags: -fsanitize=undefined
//~[sections] flags: -ffunction-sections -fdata-sections -Wl,--gc-sections
//~[hidden] flags: -fvisibility=hidden -Wl,-z,now
//~[pg] flags: -pg
//~[nobuiltin] flags: -O2 -fno-builtin
//~[openmp] flags: -fopenmp-simd -Ofast
//~[stackprot] flags: -fstack-protector-all -fstack-clash-protection -fcf-protection=full
//~[savetemps] flags: -save-temps
//~[embed] flags: -fembed-bitcode
//~[unwind] flags: -fno-asynchronous-unwind-tables -fomit-frame-pointer -O1
//~[gz] flags: -gz -gdwarf-4
//~ may: refuse
//~ truth: race
#include <pthread.h>
int n;
__attribute__((noinline)) static void add(int *p)
{
    *p += 1;
}
#ifdef INSTRUMENT
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *a, void *b) { }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *a, void *b) { }
#endif
static void *work(void *arg)
{
    add(&n);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n == 0;
}
