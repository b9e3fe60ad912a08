//~ about: one piece of shared memory, attached by each thread
//~ truth: race
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/shm.h>
static int id;
static void *work(void *arg)
{
    int *p = shmat(id, 0, 0);
    if (p != (void *)-1)
        p[0]++;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    id = shmget(IPC_PRIVATE, 4096, 0600);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    shmctl(id, IPC_RMID, 0);
    return 0;
}
