//~ about: which number a descriptor gets depends on what other threads have open
//~ truth: assertion
//~ unless-assumes: numbers of descriptors
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int lowest;
static void *opens(void *unused) {
    close(open("/dev/null", O_RDONLY));
    return unused;
}
static void *expects(void *unused) {
    assert(open("/dev/null", O_RDONLY) == lowest);
    return unused;
}
int main(void) {
    pthread_t a, b;
    lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    pthread_create(&a, NULL, opens, NULL);
    pthread_create(&b, NULL, expects, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
