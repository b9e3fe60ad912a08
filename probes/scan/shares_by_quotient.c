//~ about: threads share an array by id * N / T
//~ revisions: fixed rounded inclusive overlap wraps same
//~[fixed] truth: clean
//~[fixed] want: proved
//~[rounded] truth: clean
//~[rounded] want: proved
//~[inclusive] truth: race
//~[overlap] truth: race
//~[wraps] truth: race
//~[same] truth: race
#include <pthread.h>
#define N 1000
#define T 4
static int data[N + T];
static void *work(void *p)
{
    int id = (int)(long)p;
#if defined WRAPS
    // 0, 250, 244, 238: the product does not fit into the narrow counter.
    unsigned char from = (unsigned char)(id * N / T), to = 250;
    for (int i = from; i < to; i++)
#elif defined INCLUSIVE
    for (int i = id * N / T; i <= (id + 1) * N / T; i++)
#elif defined OVERLAP
    for (int i = id * N / T; i < (id + 2) * N / T && i < N; i++)
#elif defined ROUNDED
    int share = (N + T - 1) / T;
    for (int i = id * share; i < (id + 1) * share && i < N; i++)
#else
    for (int i = id * N / T; i < (id + 1) * N / T; i++)
#endif
        data[i]++;
    return 0;
}
int main(void)
{
    pthread_t t[T];
    for (long i = 0; i < T; i++) {
#ifdef SAME
        pthread_create(&t[i], 0, work, (void *)(i & 1));
#else
        pthread_create(&t[i], 0, work, (void *)i);
#endif
    }
    for (int i = 0; i < T; i++)
        pthread_join(t[i], 0);
    return data[0] == 100;
}
