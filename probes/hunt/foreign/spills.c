#include <string.h>
void plain_fill_from(char *to, const char *from, unsigned long n, const void *kept)
{
    const void *volatile words[8];
    for (int i = 0; i < 8; i++)
        words[i] = kept;
    memcpy(to, from, n);
    to[n] = words[0] == kept ? 0 : 1;
}
