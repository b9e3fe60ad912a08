//~ about: the status is that of the thread that calls exit first
//~ truth: exit-status
//~ preemptions: 1
#include <pthread.h>
#include <unistd.h>
static void *fails(void *arg)
{
    _exit(1);
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, fails, 0);
    pthread_detach(a);
    _exit(0);
}
