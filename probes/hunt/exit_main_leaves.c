//~ about: main leaves by pthread_exit, and the last thread ends the program with 0, or with 1 by exit
//~ revisions: clean failure
//~[clean] truth: clean
//~[failure] truth: exit-status
//~[failure] must-not: proved exit-0
#include <pthread.h>
#include <stdlib.h>
static void *last(void *arg)
{
#ifdef FAILURE
    exit(1);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, last, 0);
    pthread_detach(a);
    pthread_exit(0);
}
