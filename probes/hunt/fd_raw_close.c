//~ about: the only writer of a pipe closes it by `syscall`, which ends a read of the other thread; closed twice, it may be the file of another
//~ revisions: ok late twice
//~[ok] truth: clean
//~[late] truth: deadlock
//~[twice] truth: race
//~[ok] want: proved
//~[twice] want: found
//~ cross: no
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *argument) {
    (void)argument;
#ifndef LATE
    syscall(SYS_close, ends[1]);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(ends) != 0)
        return 2;
    pthread_create(&thread, NULL, writer, NULL);
#ifdef TWICE
    syscall(SYS_close, ends[1]);
#else
    if (read(ends[0], &byte, 1) != 0)
        return 3;
#endif
    pthread_join(thread, NULL);
    return 0;
}
