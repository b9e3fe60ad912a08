//~ about: popen and waitpid in one thread, work in another
//~ truth: clean
//~ want: no-claim
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *add(void *arg)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t a;
    char line[16] = "";
    pthread_create(&a, 0, add, 0);
    FILE *f = popen("echo hello", "r");
    assert(f && fgets(line, sizeof line, f) && line[0] == 'h');
    assert(pclose(f) == 0);
    add(0);
    pthread_join(a, 0);
    assert(n == 2);
    return 0;
}
