//~ about: threads get the address of the variable of the loop that creates them
//~ revisions: shared own
//~[shared] truth: race
//~[own] truth: clean
#include <pthread.h>
static int seen[4];
static void *work(void *p)
{
    seen[*(int *)p & 3] = 1;
    return 0;
}
int main(void)
{
    pthread_t t[2];
    int own[2];
#ifdef SHARED
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, &i);
#else
    for (int i = 0; i < 2; i++) {
        own[i] = i;
        pthread_create(&t[i], 0, work, &own[i]);
    }
#endif
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    (void)own;
    return 0;
}
