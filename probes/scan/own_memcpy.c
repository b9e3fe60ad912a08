//~ about: the compiler copies a structure by a call of `memcpy`, which the program defines
//~ revisions: bug internal
//~[bug] truth: race
//~[internal] truth: clean
//~[internal] want: proved
//~ flags: -fno-builtin
#include <pthread.h>
#include <stddef.h>
struct large {
    char bytes[400];
};
static int calls;
#ifdef BUG
void *memcpy(void *restrict to, const void *restrict from, size_t count)
#else
__attribute__((unused)) static void *copy(void *restrict to, const void *restrict from, size_t count)
#endif
{
    calls++;
    for (size_t i = 0; i < count; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
static struct large first[2], second[2];
static void *one(void *arg) { first[0] = first[1]; return arg; }
static void *two(void *arg) { second[0] = second[1]; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
