// verdict: race-free A
// The descriptor is closed when no other thread can use it.
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *greet(void *unused) {
    if (write(ends[1], "hello", 5) != 5)
        _exit(0);
    return unused;
}

int main(void) {
    pthread_t writer;
    if (pipe(ends) != 0)
        return 0;
    pthread_create(&writer, NULL, greet, NULL);
    pthread_join(writer, NULL);
    close(ends[1]);
    return 0;
}
