//~ about: errno belongs to each thread
//~ truth: clean
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static void *fail(void *arg)
{
    errno = 0;
    int r = arg ? close(-1) : chdir("/nonexistent/directory");
    int want = arg ? EBADF : ENOENT;
    sched_yield();
    assert(r == -1 && errno == want);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, fail, (void *)0);
    pthread_create(&b, 0, fail, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
