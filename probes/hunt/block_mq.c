//~ about: a POSIX message queue
//~ truth: clean
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static mqd_t q;
static void *give(void *arg)
{
    assert(mq_send(q, "x", 1, 0) == 0);
    return arg;
}
int main(void)
{
    char name[64], b[16];
    struct mq_attr t = {.mq_maxmsg = 2, .mq_msgsize = 16};
    pthread_t a;
    snprintf(name, sizeof name, "/probe-%d", getpid());
    q = mq_open(name, O_CREAT | O_RDWR, 0600, &t);
    if (q == (mqd_t)-1)
        return 0;
    mq_unlink(name);
    pthread_create(&a, 0, give, 0);
    assert(mq_receive(q, b, sizeof b, 0) == 1 && b[0] == 'x');
    pthread_join(a, 0);
    return 0;
}
