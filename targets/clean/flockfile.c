// Threads lock a stream for several lines at a time. No other thread writes in between, neither with the lock nor without.

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static FILE *stream;
static char text[4096];
static int inside;

static void *write_block(void *name) {
    for (int i = 0; i < 2; i++) {
        flockfile(stream);
        flockfile(stream);
        assert(inside++ == 0);
        fprintf(stream, "begin %s\n", (char *)name);
        funlockfile(stream);
        fputs("end\n", stream);
        assert(--inside == 0);
        funlockfile(stream);
    }
    return NULL;
}

static void *write_line(void *unused) {
    fputs("line\n", stream);
    if (ftrylockfile(stream) == 0) {
        assert(inside == 0);
        fputs("tried\n", stream);
        funlockfile(stream);
    }
    return unused;
}

int main(void) {
    stream = fmemopen(text, sizeof text, "w");
    assert(stream != NULL);
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, write_block, "a");
    pthread_create(&threads[1], NULL, write_block, "b");
    pthread_create(&threads[2], NULL, write_line, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    fclose(stream);
    int blocks = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, "begin", 5) == 0) {
            line = strtok(NULL, "\n");
            assert(line != NULL && strcmp(line, "end") == 0);
            blocks++;
        }
    }
    assert(blocks == 4);
    return 0;
}
