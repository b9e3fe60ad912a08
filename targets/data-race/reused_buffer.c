// A reader refills one buffer while lines that it has handed over are still in use.
//
// preemptions: 1
//
// The twin is right because the reader has a buffer for each line.

#include <pthread.h>
#include <unistd.h>

enum { LINES = 2, LENGTH = 4 };

static int input[2];
static int lines[2];
char buffers[LINES][LENGTH];
int sum;

static void *fill(void *unused) {
    (void)unused;
    for (int i = 0; i < LINES; i++) {
        char *buffer = buffers[0];
        if (read(input[0], buffer, LENGTH) != LENGTH || //~ data-race
            write(lines[1], &buffer, sizeof buffer) != sizeof buffer) {
            break;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t reader;
    if (pipe(input) != 0 || pipe(lines) != 0 || write(input[1], "onlytwo.", LINES * LENGTH) != LINES * LENGTH) {
        return 1;
    }
    pthread_create(&reader, NULL, fill, NULL);
    for (int i = 0; i < LINES; i++) {
        char *line;
        if (read(lines[0], &line, sizeof line) != sizeof line) {
            return 1;
        }
        sum += line[LENGTH - 1]; //~ data-race
    }
    pthread_join(reader, NULL);
    return 0;
}
