// Members on both sides of padding, and bit-fields on both sides of a zero-width one, are different memory
// locations. Each thread writes only its own.

#include <pthread.h>
#include <stddef.h>

struct {
    char head; // three bytes of padding follow
    int body;
    unsigned left : 5;
    unsigned : 0;
    unsigned right : 5;
} record;

static void *write_head(void *unused) {
    (void)unused;
    record.head = 1;
    record.left = 2;
    return NULL;
}

static void *write_body(void *unused) {
    (void)unused;
    record.body = 3;
    record.right = 4;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, write_head, NULL);
    pthread_create(&second, NULL, write_body, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return record.head + record.body + record.left + record.right != 10;
}
