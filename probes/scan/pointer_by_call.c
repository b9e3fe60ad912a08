//~ about: a function of the C library stores a pointer to new memory where another thread finds it
//~ revisions: global field heap number fixed
//~ truth: race
//~[fixed] truth: clean
//~ command: scan
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    long value;
    char *end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *rest;
static struct parser parser, *shared;

static void *parse(void *unused)
{
    char *text = malloc(8);
    strcpy(text, "12ab");
#if defined HEAP
    struct parser *own = calloc(1, sizeof *own);
    own->value = strtol(text, &own->end, 10);
    pthread_mutex_lock(&lock);
    shared = own;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_lock(&lock);
#if defined FIELD
    parser.value = strtol(text, &parser.end, 10);
#elif defined NUMBER
    parser.value = (long)strtod(text, &rest);
#else
    parser.value = strtol(text, &rest, 10);
#endif
#ifdef FIXED
    text[2] = 'c';
#endif
    pthread_mutex_unlock(&lock);
#endif
#ifndef FIXED
    text[2] = 'c';
#endif
    return unused;
}

static void *change(void *unused)
{
    char *found;
    pthread_mutex_lock(&lock);
#if defined HEAP
    found = shared ? shared->end : 0;
#elif defined FIELD
    found = parser.end;
#else
    found = rest;
#endif
#ifdef FIXED
    if (found)
        *found = 'd';
#endif
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    if (found)
        *found = 'd';
#endif
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, parse, 0);
    pthread_create(&other, 0, change, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
