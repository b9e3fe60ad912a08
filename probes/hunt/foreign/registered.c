#include <stdlib.h>
int counter;
static void at_end(void)
{
    counter++;
}
__attribute__((constructor)) static void at_start(void)
{
    atexit(at_end);
}
