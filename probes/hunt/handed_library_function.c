//~ about: puts as the first function of a thread reads a string that another thread changes
//~ truth: race
//~ must-not: proved
//~ cross: no
#include <pthread.h>
#include <stdio.h>
static char text[] = "hello";
static void *change(void *arg)
{
    text[0] = 'x';
    return arg;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, (void *(*)(void *))puts, text);
    pthread_create(&second, 0, change, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
