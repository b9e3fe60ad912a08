#include <signal.h>
int counter;
void *start(void *arg)
{
    counter++;
    return arg;
}
int start_c11(void *arg)
{
    (void)arg;
    counter++;
    return 0;
}
void destructor(void *arg)
{
    (void)arg;
    counter++;
}
void at_end(void)
{
    counter++;
}
void handler(int signal)
{
    (void)signal;
    counter++;
}
void expired(union sigval value)
{
    (void)value;
    counter++;
}
void *(*const start_in_table)(void *) = start;
