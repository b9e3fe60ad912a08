//~ about: ranges that hold by `&&`, `||` and by a flag, and others that look like it
//~ revisions: and or flag deep stale either old
//~[and] truth: clean
//~[and] want: proved
//~[or] truth: clean
//~[or] want: proved
//~[flag] truth: clean
//~[deep] truth: clean
//~[deep] want: proved
//~[stale] truth: race
//~[either] truth: race
//~[old] truth: race
#include <pthread.h>
#include <stdlib.h>
#define N 1000
#define T 4
static int data[N + T];
static int check(int v)
{
    return v >= 0;
}
static void *work(void *p)
{
    int id = (int)(long)p;
#if defined AND
    for (int i = id * 250; i < (id + 1) * 250 && i < N; i++)
        data[i]++;
#elif defined OR
    for (int i = id * 250;; i++) {
        if (i >= (id + 1) * 250 || i >= N)
            break;
        data[i]++;
    }
#elif defined FLAG
    for (int i = id * 250;; i++) {
        int go = 0;
        if (i < (id + 1) * 250)
            go = check(i);
        if (!go)
            break;
        data[i]++;
    }
#elif defined DEEP
    for (int i = id * 250; ((i < (id + 1) * 250 && check(i)) && i < N) && check(i + 1); i++)
        data[i]++;
#elif defined STALE
    // The flag is from before the last change of `i`.
    int i = id * 250, go = 1;
    data[i]++;
    while (go) {
        go = 0;
        if (i < (id + 1) * 250)
            go = check(i);
        i++;
        if (go)
            data[i]++;
    }
#elif defined EITHER
    for (int i = id * 250; i < N && (i < (id + 1) * 250 || i == (id + 1) * 250); i++)
        data[i]++;
#elif defined OLD
    // What held in the round before holds no more.
    int i = id * 250, go = 0;
    data[i]++;
    for (int round = 0; round < 300; round++) {
        if (go)
            data[i]++;
        go = 0;
        i++;
        if (i < (id + 1) * 250)
            go = 1;
        if (round >= 249 && i == (id + 1) * 250)
            go = 1;
    }
#endif
    return 0;
}
int main(void)
{
    pthread_t t[T];
    for (long i = 0; i < T; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < T; i++)
        pthread_join(t[i], 0);
    return data[0] == 100;
}
