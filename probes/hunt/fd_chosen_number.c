//~ about: a call on a descriptor number that another thread gives to a file with dup2, or takes away again
//~ revisions: write read poll select send lseek close ok
//~[write] truth: assertion
//~[read] truth: assertion
//~[poll] truth: assertion
//~[select] truth: assertion
//~[send] truth: assertion
//~[lseek] truth: assertion
//~[close] truth: assertion race
//~[ok] truth: clean
//~ preemptions: 1
//~ cross: no
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
#define NUMBER 40
static int ends[2];
static void *maker(void *arg)
{
#ifdef READ
    dup2(ends[0], NUMBER);
#else
    dup2(ends[1], NUMBER);
#endif
    return arg;
}
int main(void)
{
    pthread_t thread;
#ifdef SEND
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
#elif defined LSEEK
    char name[] = "/tmp/chosenXXXXXX";
    ends[1] = mkstemp(name);
#else
    pipe(ends);
#endif
    pthread_create(&thread, 0, maker, 0);
#ifdef OK
    pthread_join(thread, 0);
    assert(write(NUMBER, "x", 1) == 1);
    return 0;
#elif defined WRITE
    assert(write(NUMBER, "x", 1) < 0);
#elif defined READ
    char byte;
    assert(read(NUMBER, &byte, 0) < 0);
#elif defined POLL
    struct pollfd entry = {NUMBER, POLLOUT, 0};
    poll(&entry, 1, 0);
    assert(entry.revents & POLLNVAL);
#elif defined SELECT
    fd_set set;
    FD_ZERO(&set);
    FD_SET(NUMBER, &set);
    struct timeval none = {0, 0};
    assert(select(NUMBER + 1, 0, &set, 0, &none) < 0);
#elif defined SEND
    assert(send(NUMBER, "x", 1, 0) < 0);
#elif defined LSEEK
    assert(lseek(NUMBER, 0, SEEK_SET) < 0);
#elif defined CLOSE
    assert(close(NUMBER) < 0);
#endif
    pthread_join(thread, 0);
    return 0;
}
