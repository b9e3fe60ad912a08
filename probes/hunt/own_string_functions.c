//~ about: a program has its own memcpy, memset, strlen and strcmp, which the compiler and the libraries call too
//~ revisions: races locked
//~[races] truth: race
//~[locked] truth: clean
//~[locked] want: proved
#include <pthread.h>
#include <stddef.h>

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

void *memcpy(void *to, const void *from, size_t size)
{
    for (size_t at = 0; at < size; at++)
        ((char *)to)[at] = ((const char *)from)[at];
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    for (size_t at = 0; at < size; at++)
        ((char *)to)[at] = (char)byte;
    return to;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char shared[16] = "old";
struct big {
    char text[4];
} static words[2] = {{"one"}, {"two"}};

static void *write_word(void *word)
{
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    memcpy(shared, word, sizeof(struct big));
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    return word;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, write_word, &words[0]);
    pthread_create(&b, NULL, write_word, &words[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    memset(shared + 8, 0, 8);
    return strlen(shared) != 3 || strcmp(shared, "old") == 0;
}
