// verdict: race C
// A descriptor may be closed while another thread writes to it.
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
    close(ends[1]);
    pthread_join(writer, NULL);
    return 0;
}
