//~ about: a device that jumps into the loop
//~ truth: race
#include <pthread.h>
static int cell[2];
static void *work(void *arg)
{
    cell[(long)arg]++;
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t;
    int rounds = 2;
    switch (argc % 2) {
    case 0:
        do {
            pthread_create(&t, 0, work, (void *)0);
            pthread_detach(t);
    case 1:
            pthread_create(&t, 0, work, (void *)1);
            pthread_detach(t);
        } while (--rounds > 0);
    }
    pthread_exit(0);
}
