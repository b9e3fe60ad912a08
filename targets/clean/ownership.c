// Plain data goes from thread to thread without any lock: down by creation, up by join.

#include <pthread.h>
#include <stddef.h>

int trail[4];
int length;

static void *walk(void *unused) {
    (void)unused;
    trail[length] = length;
    length++;
    if (length < 4) {
        pthread_t next;
        pthread_create(&next, NULL, walk, NULL);
        pthread_join(next, NULL);
    }
    return NULL;
}

int main(void) {
    walk(NULL);
    return trail[3] != 3 || length != 4;
}
