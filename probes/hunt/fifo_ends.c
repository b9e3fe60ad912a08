//~ about: whether one end of a FIFO can be opened without waiting depends on whether the other end is open
//~ revisions: plain reduced cached
//~[reduced] options: --analysis context-bound --reduction=dynamic
//~[cached] options: --analysis context-bound --reduction
//~ truth: assertion
//~ preemptions: 1
//~ want: found
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
static void *read_it(void *arg)
{
    open("ends.fifo", O_RDONLY | O_NONBLOCK);
    return arg;
}
static void *write_it(void *arg)
{
    int first = open("ends.fifo", O_WRONLY | O_NONBLOCK) < 0;
    int second = open("ends.fifo", O_WRONLY | O_NONBLOCK) < 0;
    assert(first == second);
    return arg;
}
int main(void)
{
    pthread_t reader, writer;
    mkfifo("ends.fifo", 0600);
    pthread_create(&writer, 0, write_it, 0);
    pthread_create(&reader, 0, read_it, 0);
    pthread_join(writer, 0);
    pthread_join(reader, 0);
    unlink("ends.fifo");
    return 0;
}
