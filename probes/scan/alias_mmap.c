//~ about: one file, mapped by each thread
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static int fd;
static void *work(void *arg)
{
    int *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED)
        p[0]++;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    char name[] = "./mapXXXXXX";
    fd = mkstemp(name);
    unlink(name);
    if (ftruncate(fd, 4096))
        return 1;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
