//~ about: a field by its offset
//~ truth: race
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/uio.h>
#include <stddef.h>
static struct s { int x, y; } box;
static int n;
static char text[32] = "key=value";
static void *one(void *arg)
{
    (void)text;
    struct s *p = &box; char *raw = (char *)p + offsetof(struct s, y); *(int *)raw = 1;
    return arg;
}
static void *two(void *arg)
{
    box.y = 2;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
