//~ about: loops that create threads and wait for them, as many as a variable of the program says, which changes in between
//~ revisions: less thread callee inside fixed argument
//~[less] truth: race
//~[thread] truth: race
//~[callee] truth: race
//~[inside] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
//~[argument] truth: clean
//~[argument] want: proved
#include <pthread.h>
static int count = 3;
static int x[8], sum;
static void *one(void *p)
{
    ++*(int *)p;
#ifdef THREAD
    if (p == &x[0])
        count = 2;
#endif
    return 0;
}
static void set(int *where, int value)
{
    *where = value;
}
int main(int arguments, char **words)
{
    pthread_t t[8];
    (void)words;
#ifdef ARGUMENT
    if (arguments > 1 && arguments < 8)
        set(&count, arguments);
#else
    (void)arguments;
#endif
    for (int i = 0; i < count; i++) {
        x[i] = 0;
        pthread_create(&t[i], 0, one, &x[i]);
#ifdef INSIDE
        if (i == 2)
            count = 2;
#endif
    }
#ifdef LESS
    count--;
#endif
#ifdef CALLEE
    set(&count, 2);
#else
    (void)set;
#endif
    for (int i = 0; i < count; i++)
        pthread_join(t[i], 0);
    for (int i = 0; i < 3; i++)
        sum += x[i];
#ifdef BUG
    pthread_join(t[2], 0);
#endif
    return sum == 100;
}
