//~ about: status 256 is status 0
//~ truth: clean
#include <pthread.h>
#include <stdlib.h>
static void *nothing(void *arg) { return arg; }
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, nothing, 0);
    pthread_join(a, 0);
    exit(256);
}
