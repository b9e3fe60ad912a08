// bug: assertion
// sizes: 3 10 20 50 100
// Writers set two variables one after the other. One reader, among many writers, must see the first without the second.
#include <assert.h>
#include <pthread.h>

static int first, second;

static void *set(void *unused) {
    first = 1;
    second = -1;
    return unused;
}

static void *look(void *unused) {
    int a = first, b = second;
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N - 1; i++)
        pthread_create(&threads[i], 0, set, 0);
    pthread_create(&threads[N - 1], 0, look, 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
