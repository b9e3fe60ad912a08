//~ about: a loop joins threads from the last to the first
//~ revisions: post pre last number early skips_first skips_last one_less leaves_early passes_over made_more
//~ truth: clean
//~ want: proved
//~[early] truth: race
//~[skips_first] truth: race
//~[skips_last] truth: race
//~[one_less] truth: race
//~[leaves_early] truth: race
//~[passes_over] truth: race
//~[made_more] truth: race
#include <pthread.h>
#define N 4
static int results[N];
static void *work(void *p)
{
    int number = (int)(long)p;
    results[number] = number;
    return 0;
}
int main(int count, char **arguments)
{
    pthread_t threads[N];
    int i, sum = 0;
    (void)arguments;
    for (i = 0; i < N; i++) {
        pthread_create(&threads[i], 0, work, (void *)(long)i);
#ifdef EARLY
        // The last thread is not joined.
        if (count > 1)
            break;
#endif
    }
#if defined PRE
    while (i > 0)
        pthread_join(threads[--i], 0);
#elif defined LAST
    for (i = N - 1; i >= 0; i--)
        pthread_join(threads[i], 0);
#elif defined NUMBER
    for (int last = i - 1; last > -1; last--)
        pthread_join(threads[last], 0);
#elif defined SKIPS_FIRST
    for (i = N - 1; i > 0; i--)
        pthread_join(threads[i], 0);
#elif defined SKIPS_LAST
    for (i = N - 2; i >= 0; i--)
        pthread_join(threads[i], 0);
#elif defined ONE_LESS
    i--;
    while (i--)
        pthread_join(threads[i], 0);
#elif defined LEAVES_EARLY
    while (i--) {
        if (count > 1)
            break;
        pthread_join(threads[i], 0);
    }
#elif defined PASSES_OVER
    while (i--) {
        if (count > 1)
            continue;
        pthread_join(threads[i], 0);
    }
#else
    while (i--)
        pthread_join(threads[i], 0);
#endif
#ifdef MADE_MORE
    pthread_create(&threads[0], 0, work, (void *)0L);
#endif
    for (i = 0; i < N; i++)
        sum += results[i];
    return sum;
}
