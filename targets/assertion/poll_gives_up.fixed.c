// `main` waits for an answer with `poll` and a generous time-out, checks what `poll` has returned, and polls again.

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *answer(void *unused) {
    (void)unused;
    return write(ends[1], "y", 1) == 1 ? NULL : unused;
}

int main(void) {
    pthread_t helper;
    struct pollfd input;
    char letter = 'n';
    if (pipe(ends) != 0) {
        return 1;
    }
    input = (struct pollfd){.fd = ends[0], .events = POLLIN};
    pthread_create(&helper, NULL, answer, NULL);
    while (poll(&input, 1, 5000) == 0) {
    }
    if (input.revents & POLLIN) {
        letter = read(ends[0], &letter, 1) == 1 ? letter : '?';
    }
    assert(letter == 'y');
    pthread_join(helper, NULL);
    return 0;
}
