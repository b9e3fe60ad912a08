//~ about: both only read what was written before they were created
//~ truth: clean
#include <pthread.h>
#include <string.h>
static int table[16];
static char name[16];
static void *work(void *arg)
{
    volatile int s = 0;
    for (int i = 0; i < 16; i++)
        s += table[i] + name[i];
    return arg;
}
int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 16; i++)
        table[i] = i;
    strcpy(name, "probe");
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    table[0] = 1;
    return 0;
}
