//~ about: loops that the compiler makes vectors of, over neighbouring and overlapping parts of an array
//~ revisions: beside overlap
//~[beside] truth: clean
//~[overlap] truth: race
//~ flags: -O3 -mavx2
#include <pthread.h>
static float a[103];
#ifdef BESIDE
enum { BEGIN = 51 };
#else
enum { BEGIN = 50 };
#endif
static void *upper(void *arg)
{
    for (int i = BEGIN; i < 103; i++)
        a[i] = a[i] * 2 + 1;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, upper, 0);
    for (int i = 0; i < 51; i++)
        a[i] = a[i] * 2 + 1;
    pthread_join(t, 0);
    return 0;
}
