//~ about: a library without instrumentation has the first address of the program on its stack, below which nothing can be read
//~ truth: clean
//~ with: foreign/spills.c gcc-shared
#include <pthread.h>
#include <string.h>
void plain_fill_from(char *to, const char *from, unsigned long n, const void *kept);
extern const char __executable_start;
static void *put(void *arg)
{
    char buffer[64];
    plain_fill_from(buffer, arg, 5, &__executable_start);
    return (void *)strlen(buffer);
}
int main(void)
{
    pthread_t a;
    void *length = 0;
    pthread_create(&a, 0, put, "hello");
    pthread_join(a, &length);
    return length == (void *)5 ? 0 : 1;
}
