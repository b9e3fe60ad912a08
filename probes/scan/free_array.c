//~ about: an array of variable length ends with its block, and the next one has its memory, while a thread still uses it
//~ revisions: bug fixed
//~[bug] truth: race use-after-free
//~[fixed] truth: clean
#include <pthread.h>
static void *one(void *p)
{
    ((int *)p)[0] = 1;
    return 0;
}
int main(int count, char **arguments)
{
    int length = count + 3;
    pthread_t a;
    {
        int first[length];
        first[0] = 0;
        pthread_create(&a, 0, one, first);
#ifdef FIXED
        pthread_join(a, 0);
#endif
    }
    {
        int second[length];
        for (int i = 0; i < length; i++)
            ((volatile int *)second)[i] = i;
    }
#ifdef BUG
    pthread_join(a, 0);
#endif
    (void)arguments;
    return 0;
}
