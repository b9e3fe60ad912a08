//~ about: functions that the loader runs because the program puts their addresses into a section
//~ revisions: init fini preinit plain
//~[init] truth: race
//~[fini] truth: race
//~[preinit] truth: race
//~[plain] truth: clean
//~[plain] want: proved
#include <pthread.h>
static int shared;
static void *worker(void *arg)
{
    shared++;
    return arg;
}
static void start(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
}
__attribute__((unused)) static void last(void) { shared++; }
#if defined INIT
__attribute__((section(".init_array"), used)) static void (*entry)(void) = start;
#elif defined PREINIT
__attribute__((section(".preinit_array"), used)) static void (*entry)(void) = start;
#elif defined FINI
__attribute__((section(".fini_array"), used)) static void (*entry)(void) = last;
#else
__attribute__((section("own_table"), used)) static void (*entry)(void) = last;
#endif
int main(void)
{
#if defined FINI || defined PLAIN
    start();
#else
    shared++;
#endif
    return 0;
}
