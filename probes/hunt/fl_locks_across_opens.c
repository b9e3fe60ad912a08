//~ about: a lock of a file excludes a descriptor that was opened for reading before, and one that is opened for writing later
//~ truth: clean
//~ args: {dir}
//~ want: proved
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
static char path[4096];
static int reader, inside;
static void enter(int file) {
    flock(file, LOCK_EX);
    assert(++inside == 1);
    inside--;
    flock(file, LOCK_UN);
}
static void *reads(void *unused) {
    enter(reader);
    return unused;
}
static void *writes(void *unused) {
    int file = open(path, O_RDWR);
    enter(file);
    close(file);
    return unused;
}
int main(int argc, char **argv) {
    pthread_t a, b;
    snprintf(path, sizeof path, "%s/shared", argc > 1 ? argv[1] : ".");
    close(open(path, O_RDWR | O_CREAT, 0600));
    reader = open(path, O_RDONLY);
    pthread_create(&a, NULL, reads, NULL);
    pthread_create(&b, NULL, writes, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
