// Looking for a character reads up to it and no further, and a precision limits what is printed: what comes after belongs
// to another thread.

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char line[] = "key=value";

static void *find_key(void *length) {
    const char *end = strchr(line, '=');
    const char *same = memchr(line, '=', sizeof line);
    char text[32];
    snprintf(text, sizeof text, "%.3s %s", line, "found");
    *(long *)length = end == same ? end - line : -1;
    return NULL;
}

static void *set_value(void *unused) {
    strcpy(line + 4, "other");
    return unused;
}

int main(void) {
    pthread_t first, second;
    long length = 0;
    pthread_create(&first, NULL, find_key, &length);
    pthread_create(&second, NULL, set_value, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return length != 3;
}
