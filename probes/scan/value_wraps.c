//~ about: a sum that wraps around
//~ truth: race
#include <pthread.h>
#include <stdlib.h>
static int n;
static void *work(void *arg) { n++; return arg; }
int main(int argc, char **argv)
{
    unsigned k = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    if (k + 10 < 5) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
