//~ about: written by main, then read by threads, then joined, then written, then read by others
//~ truth: clean
#include <pthread.h>
static int phase, data[4];
static void *reader(void *arg)
{
    volatile int s = phase;
    for (int i = 0; i < 4; i++)
        s += data[i];
    return arg;
}
int main(void)
{
    for (int p = 0; p < 2; p++) {
        pthread_t a, b;
        phase = p;
        for (int i = 0; i < 4; i++)
            data[i] = p + i;
        pthread_create(&a, 0, reader, 0);
        pthread_create(&b, 0, reader, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
