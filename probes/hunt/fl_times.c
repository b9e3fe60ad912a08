//~ about: a file that is written has a time between the start of the program and now
//~ revisions: clean backwards
//~[clean] truth: clean
//~[backwards] truth: assertion
//~[backwards] want: found
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static time_t start;
static void *writes(void *name) {
    struct stat status;
    int file = open(name, O_RDWR | O_CREAT, 0600);
    (void)!write(file, "x", 1);
    fstat(file, &status);
    assert(status.st_mtime >= start && status.st_mtime <= time(NULL));
#ifdef BACKWARDS
    struct stat later;
    sleep(2);
    (void)!write(file, "y", 1);
    fstat(file, &later);
    assert(later.st_mtime == status.st_mtime);
#endif
    close(file);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    start = time(NULL);
    pthread_create(&a, NULL, writes, "one");
    pthread_create(&b, NULL, writes, "two");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
