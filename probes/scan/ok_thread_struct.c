//~ about: each thread has a block of its own on the heap, with its results; main reads them after the join
//~ truth: clean
#include <pthread.h>
#include <stdlib.h>
struct job { pthread_t t; int in, out; };
static void *run(void *arg)
{
    struct job *j = arg;
    j->out = j->in * 2;
    return 0;
}
int main(void)
{
    struct job *all[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        all[i] = malloc(sizeof *all[i]);
        if (!all[i])
            abort();
        all[i]->in = i;
        pthread_create(&all[i]->t, 0, run, all[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(all[i]->t, 0);
        sum += all[i]->out;
        free(all[i]);
    }
    return sum != 6;
}
