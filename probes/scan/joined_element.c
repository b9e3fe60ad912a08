//~ about: a loop joins a thread and then reads the element that was given to it, while other threads still run
//~ revisions: fixed struct before next other shifted twice again continue
//~[fixed] truth: clean
//~[fixed] want: proved
//~[struct] truth: clean
//~[struct] want: proved
//~[before] truth: race
//~[next] truth: race
//~[other] truth: race
//~[shifted] truth: race
//~[twice] truth: race
//~[again] truth: race
//~[continue] truth: race
#include <pthread.h>
#define N 4
static struct job {
    int in, out;
} jobs[N + 1];
static void *work(void *p)
{
    struct job *j = p;
    j->out = j->in * 2;
#ifdef OTHER
    // Every thread also changes the last element.
    jobs[N - 1].out++;
#endif
    return 0;
}
int main(void)
{
    pthread_t t[N], again;
    int sum = 0;
    for (int i = 0; i < N; i++) {
        jobs[i].in = i;
#if defined SHIFTED
        pthread_create(&t[i], 0, work, &jobs[i + 1]);
#elif defined TWICE
        pthread_create(&t[i], 0, work, &jobs[i / 2]);
#else
        pthread_create(&t[i], 0, work, &jobs[i]);
#endif
    }
#ifdef AGAIN
    // One more thread works on an element that a thread of the loop has.
    pthread_create(&again, 0, work, &jobs[0]);
#else
    (void)again;
#endif
    for (int i = 0; i < N; i++) {
#ifdef BEFORE
        sum += jobs[i].out;
#endif
#ifdef CONTINUE
        if (i == 1) {
            // Not joined, and read all the same.
            sum += jobs[i].out;
            continue;
        }
#endif
        pthread_join(t[i], 0);
#if defined NEXT
        sum += jobs[i + 1].out;
#elif defined STRUCT
        struct job copy = jobs[i];
        sum += copy.out;
        jobs[i].in = 0;
#else
        sum += jobs[i].out;
#endif
    }
#ifdef CONTINUE
    pthread_join(t[1], 0);
#endif
#ifdef AGAIN
    pthread_join(again, 0);
#endif
    return sum == 1000;
}
