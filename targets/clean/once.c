// pthread_once runs the initialisation once and orders it before the return of every caller.

#include <pthread.h>
#include <stddef.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
int value;

static void initialise(void) { value += 3; }

static void *use(void *result) {
    pthread_once(&once, initialise);
    *(int *)result = value;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int results[2] = {0, 0};
    pthread_create(&first, NULL, use, &results[0]);
    pthread_create(&second, NULL, use, &results[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return results[0] != 3 || results[1] != 3;
}
