/* Installs functions of its own before main, which the C library or the system calls later. */
#include <pthread.h>
#include <signal.h>
extern int shared;
pthread_key_t foreign_key;
static void at_end(void *value)
{
    (void)value;
    shared++;
}
static void at_signal(int signal)
{
    (void)signal;
    shared++;
}
__attribute__((constructor)) static void install(void)
{
    pthread_key_create(&foreign_key, at_end);
    signal(SIGUSR1, at_signal);
}
