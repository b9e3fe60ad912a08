//~ about: correct in practice: mkdir succeeds for one of two, rmdir lets the next one in
//~ revisions: default bounded watchpoint free
//~[bounded] options: --analysis context-bound
//~[watchpoint] options: --analysis watchpoint --detector none
//~[free] options: --free-running
//~ truth: clean
//~ want: no-claim
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char name[64] = "./lockXXXXXX";
static int n;
static void *add(void *arg)
{
    while (mkdir(name, 0700))
        sched_yield();
    n++;
    rmdir(name);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    if (!mkdtemp(name))
        return 0;
    rmdir(name);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n != 2;
}
