//~ about: a format that is empty
//~ truth: clean
//~ want: proved
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static const char nothing[4];
static void *print(void *arg)
{
    char text[4] = "abc";
    assert(snprintf(text, sizeof text, "") == 0);
    assert(fprintf(stdout, nothing) == 0);
    return arg;
}
int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, print, 0);
    pthread_create(&two, 0, print, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
