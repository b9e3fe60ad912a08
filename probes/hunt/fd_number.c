//~ about: the number of a descriptor taken for the file: it is given again
//~ truth: assertion
//~ preemptions: 1
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int current, version;
static void *reader(void *arg)
{
    pthread_mutex_lock(&m);
    int fd = current, v = version;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    if (fd == current)
        assert(v == version);
    pthread_mutex_unlock(&m);
    return arg;
}
static void *reopen(void *arg)
{
    pthread_mutex_lock(&m);
    close(current);
    current = open("/dev/zero", O_RDONLY);
    version++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    current = open("/dev/null", O_RDONLY);
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, reopen, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
