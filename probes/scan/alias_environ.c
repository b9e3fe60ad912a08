//~ about: the environment by the parameter of main and by the variable
//~ truth: race
#include <pthread.h>
extern char **environ;
static char **from_main;
static void *one(void *arg)
{
    if (from_main[0])
        from_main[0][0] = 'A';
    return arg;
}
static void *two(void *arg)
{
    if (environ[0])
        environ[0][0] = 'B';
    return arg;
}
int main(int argc, char **argv, char **envp)
{
    pthread_t a, b;
    from_main = envp;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
