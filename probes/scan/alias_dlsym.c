//~ about: a variable whose address dlsym finds
//~ truth: race
//~ flags: -rdynamic -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
int shared_value;
static void *one(void *arg) { shared_value = 1; return arg; }
static void *two(void *arg)
{
    int *p = dlsym(RTLD_DEFAULT, "shared_value");
    if (p)
        *p = 2;
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
