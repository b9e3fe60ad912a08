//~ about: all threads get the address of one variable that the loop changes
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static int cell[3];
static void *work(void *arg)
{
    int id = *(int *)arg;
    cell[id % 3] = 1;
    return 0;
}
int main(void)
{
    pthread_t t[3];
    int ids[3];
#ifdef BUG
    int id;
    for (id = 0; id < 3; id++)
        pthread_create(&t[id], 0, work, &id);
    (void)ids;
#else
    for (int id = 0; id < 3; id++) {
        ids[id] = id;
        pthread_create(&t[id], 0, work, &ids[id]);
    }
#endif
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
