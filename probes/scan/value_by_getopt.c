//~ about: a setting that getopt finds
//~ truth: race
#include <pthread.h>
#include <unistd.h>
static int n, parallel;
static void *work(void *arg) { n++; return arg; }
int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "p")) != -1)
        if (c == 'p')
            parallel = 1;
    if (parallel) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
