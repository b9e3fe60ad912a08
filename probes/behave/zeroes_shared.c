//~ about: writes zeros over every shared mapping that it has
//~ truth: any
//~ must-not: proved
//~ isolate: pid
//~ may: refuse
//~ want: no-claim
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((no_sanitize("thread"))) static void zero_shared(void)
{
    static char maps[1 << 16];
    int fd = open("/proc/self/maps", O_RDONLY), got, all = 0;
    while ((got = read(fd, maps + all, sizeof maps - 1 - all)) > 0)
        all += got;
    for (char *line = maps; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : 0) {
        char *end;
        unsigned long from = strtoul(line, &end, 16), to = strtoul(end + 1, &end, 16);
        if (!strncmp(end, " rw-s", 5))
            for (volatile char *p = (char *)from; p < (char *)to && p < (char *)from + (1 << 20); p++)
                *p = 0;
    }
}
static atomic_int n;
static void *add(void *arg)
{
    int v = n;
    n = v + 1;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    (void)argc, (void)argv;
    
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    zero_shared();
    if (n != 2)
        abort();
    return 0;
}
