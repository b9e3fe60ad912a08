//~ about: a heap that is used by many sizes in two threads: blocks move between them
//~ truth: clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *arg)
{
    char *keep[6];
    for (int i = 0; i < 6; i++) {
        keep[i] = malloc(24u << i);
        memset(keep[i], i, 24u << i);
    }
    for (int i = 0; i < 6; i += 2)
        keep[i] = realloc(keep[i], 4000);
    for (int i = 0; i < 6; i++) {
        assert(keep[i][0] == i);
        free(keep[i]);
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
