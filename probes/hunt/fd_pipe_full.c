//~ about: two threads write to each other's pipe before they read from their own
//~ revisions: large small
//~[large] truth: deadlock
//~[small] truth: clean
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef LARGE
enum { BYTES = 200000 };
#else
enum { BYTES = 20000 };
#endif
static int there[2], back[2];
static void all(int write_end, int read_end)
{
    char *block = calloc(1, BYTES);
    for (size_t done = 0; done < BYTES;)
        done += write(write_end, block + done, BYTES - done);
    for (size_t done = 0; done < BYTES;)
        done += read(read_end, block + done, BYTES - done);
    free(block);
}
static void *other(void *arg)
{
    all(back[1], there[0]);
    return arg;
}
int main(void)
{
    pthread_t a;
    pipe(there);
    pipe(back);
    pthread_create(&a, 0, other, 0);
    all(there[1], back[0]);
    pthread_join(a, 0);
    return 0;
}
