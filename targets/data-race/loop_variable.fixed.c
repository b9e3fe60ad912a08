// Fixed twin of loop_variable.c: every thread gets its own variable.

#include <pthread.h>
#include <stddef.h>

static void *visit(void *number) {
    int me = *(int *)number;
    return me > 2 ? number : NULL;
}

int main(void) {
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, visit, &numbers[i]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
