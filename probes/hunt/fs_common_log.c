//~ about: threads that write to one log are not ordered by it; one that reads what another has written is
//~ revisions: append offset read
//~ truth: race
//~[read] truth: clean
//~ want: found
//~[read] want: proved
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static int data, log_file;
static atomic_int done;
static void *worker(void *unused) {
    data = 1;
#ifdef OFFSET
    if (pwrite(log_file, "x", 1, 0) != 1)
#else
    if (write(log_file, "x", 1) != 1)
#endif
        exit(0);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return unused;
}
int main(void) {
    char name[] = "common_log_XXXXXX", byte;
    log_file = mkostemp(name, O_APPEND);
    unlink(name);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (atomic_load_explicit(&done, memory_order_relaxed)) {
#if defined OFFSET
        if (pwrite(log_file, "y", 1, 1) == 1)
#elif defined READ
        if (pread(log_file, &byte, 1, 0) == 1)
#else
        if (write(log_file, "y", 1) == 1)
#endif
            data++;
    }
    pthread_join(thread, NULL);
    (void)byte;
}
