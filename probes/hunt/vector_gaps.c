//~ about: vectorised and hoisted loads read more than the program does: elements and members in between are another thread's
//~ revisions: even even_wide members conditional search hoisted overlap
//~ truth: clean
//~[overlap] truth: race
//~ flags: -O2
//~[even_wide] flags: -O3
//~[members] flags: -O2 -mavx2
//~[conditional] flags: -O2 -mavx2
//~ want: proved
//~[overlap] want: found
#include <pthread.h>
enum { COUNT = 256 };
int numbers[COUNT] = {[10] = 7};
int flags[COUNT];
struct {
    unsigned char red, green, blue, extra;
} pixels[COUNT];
int result, counter;
static void *work(void *arg)
{
    int sum = 0;
#if defined MEMBERS
    for (int i = 0; i < COUNT; i++)
        sum += pixels[i].red + pixels[i].blue;
#elif defined CONDITIONAL
    for (int i = 0; i < COUNT; i++)
        if (flags[i])
            sum += numbers[i];
#elif defined SEARCH
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] == 7) {
            sum = i;
            break;
        }
#elif defined HOISTED
    for (int i = 0; i < COUNT; i++)
        if (flags[i])
            counter++;
#elif defined OVERLAP
    for (int i = 0; i < COUNT; i += 2)
        sum += numbers[i];
    sum += numbers[11];
#else
    for (int i = 0; i < COUNT; i += 2)
        sum += numbers[i];
#endif
    result = sum;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
#if defined MEMBERS
    for (int i = 0; i < COUNT; i++)
        pixels[i].green = 1;
#elif defined SEARCH
    for (int i = 11; i < COUNT; i++)
        numbers[i] = i;
#elif defined HOISTED
    counter = 1;
#elif defined CONDITIONAL
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
#else
    for (int i = 1; i < COUNT; i += 2)
        numbers[i] = i;
#endif
    pthread_join(thread, 0);
    return 0;
}
