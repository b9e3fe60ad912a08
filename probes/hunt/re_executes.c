//~ about: the program starts itself again with another environment, as some tests do
//~ truth: crash
//~ want: no-claim
//~ may: refuse
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int n;
static void *add(void *arg)
{
    int v = n;
    n = v + 1;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    if (!getenv("PROBE_AGAIN")) {
        setenv("PROBE_AGAIN", "1", 1);
        execv("/proc/self/exe", argv);
    }
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (n != 2)
        abort();
    return 0;
}
