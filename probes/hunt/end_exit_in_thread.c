//~ about: two threads call exit with different statuses
//~ revisions: fails ok
//~[fails] truth: exit-status
//~[ok] truth: clean
#include <pthread.h>
#include <stdlib.h>
static void *leaves(void *arg)
{
#ifdef FAILS
    exit(4);
#else
    exit(0);
#endif
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, leaves, 0);
    exit(0);
}
