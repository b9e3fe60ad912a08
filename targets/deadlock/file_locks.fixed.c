// Two files are locked with `flock`, in the same order by `main` and by the worker.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>

static char names[2][32];

// The locks of two threads exclude each other when each has opened the file itself.
static int open_again(int which) {
    return open(names[which], O_RDWR);
}

static void *archive(void *unused) {
    (void)unused;
    int journal = open_again(0), data = open_again(1);
    flock(journal, LOCK_EX);
    flock(data, LOCK_EX);
    flock(data, LOCK_UN);
    flock(journal, LOCK_UN);
    return NULL;
}

int main(void) {
    pthread_t archiver;
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "/proc/self/fd/%d", memfd_create("file", 0));
    }
    int journal = open_again(0), data = open_again(1);
    pthread_create(&archiver, NULL, archive, NULL);
    flock(journal, LOCK_EX);
    flock(data, LOCK_EX);
    flock(data, LOCK_UN);
    flock(journal, LOCK_UN);
    pthread_join(archiver, NULL);
    return 0;
}
