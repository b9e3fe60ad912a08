//~ about: control enters the middle of the loop that creates threads
//~ truth: race
#include <pthread.h>
static int n;
static pthread_t t[8];
static void *work(void *arg)
{
    n++;
    return arg;
}
int main(int argc, char **argv)
{
    int i = 0;
    if (argc > 1)
        goto inside;
    while (i < 3) {
        pthread_create(&t[i], 0, work, 0);
    inside:
        i++;
    }
    for (int k = argc > 1 ? 1 : 0; k < 3; k++)
        pthread_join(t[k], 0);
    return 0;
}
