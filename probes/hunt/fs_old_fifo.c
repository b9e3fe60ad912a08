//~ about: threads talk through a FIFO that the program has not made in this execution, if it is there; others may have it open too
//~ truth: clean
//~ args: {dir}/old
//~ flags: -w
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>
static int fifo;
static void *writes(void *unused)
{
    int seven = 7;
    write(fifo, &seven, sizeof seven);
    return unused;
}
/* Before the executions begin. */
__attribute__((constructor)) static void makes(int count, char **arguments)
{
    if (count > 1)
        mkfifo(arguments[1], 0600);
}
int main(int count, char **arguments)
{
    int got = 0;
    pthread_t thread;
    fifo = open(arguments[1], O_RDWR);
    pthread_create(&thread, NULL, writes, NULL);
    if (read(fifo, &got, sizeof got) == sizeof got)
        assert(got == 7);
    pthread_join(thread, NULL);
    return 0;
}
