// Neighbouring bytes of one word are different memory locations: eight threads write one each.

#include <pthread.h>
#include <stddef.h>

unsigned char bytes[8];

static void *mark(void *byte) {
    *(unsigned char *)byte = 1;
    return NULL;
}

int main(void) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, mark, &bytes[i]);
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        sum += bytes[i];
    }
    return sum != 8;
}
