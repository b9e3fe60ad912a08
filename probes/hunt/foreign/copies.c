#include <string.h>
void plain_fill(char *to, const char *from, unsigned long n)
{
    memcpy(to, from, n);
}
unsigned long plain_length(const char *text)
{
    return strlen(text);
}
