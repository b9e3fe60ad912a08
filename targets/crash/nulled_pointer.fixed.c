// Fixed twin of nulled_pointer.c: the pointer is read once, and what was checked is used.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int session = 7;
int *_Atomic current = &session;

static void *use(void *result) {
    int *seen = current;
    if (seen != NULL)
        *(int *)result = *seen;
    return NULL;
}

static void *log_out(void *unused) {
    (void)unused;
    current = NULL;
    return NULL;
}

int main(void) {
    pthread_t user, closer;
    int result = 7;
    pthread_create(&user, NULL, use, &result);
    pthread_create(&closer, NULL, log_out, NULL);
    pthread_join(user, NULL);
    pthread_join(closer, NULL);
    return result != 7;
}
