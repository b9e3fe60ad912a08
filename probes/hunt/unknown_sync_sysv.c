//~ about: correct: a message queue of the kernel (System V) hands the turn over
//~ revisions: default watchpoint free
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>
static int queue, n;
struct turn {
    long type;
    char c;
};
static void *add(void *arg)
{
    struct turn t;
    msgrcv(queue, &t, 1, 1, 0);
    n++;
    t.type = 1;
    msgsnd(queue, &t, 1, 0);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    struct turn t = {1, 'x'};
    queue = msgget(IPC_PRIVATE, 0600);
    msgsnd(queue, &t, 1, 0);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    msgctl(queue, IPC_RMID, 0);
    return n != 2;
}
