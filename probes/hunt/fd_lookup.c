//~ about: a call that only looks at a descriptor sees another file once another thread has given the number to it
//~ revisions: status offset nothing map stream
//~ truth: assertion
//~ preemptions: 1
//~ want: found
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static int number, other;
static long look(void)
{
#ifdef STATUS
    struct stat status;
    return fstat(number, &status) == 0 ? status.st_mode : -1;
#elif defined OFFSET
    return lseek(number, 0, SEEK_CUR);
#elif defined STREAM
    return fdopen(number, "w") != 0;
#elif defined NOTHING
    char byte;
    return read(number, &byte, 0);
#else
    void *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE, number, 0);
    return page == MAP_FAILED;
#endif
}
static void *twice(void *arg)
{
    long first = look();
    assert(look() == first);
    return arg;
}
static void *replace(void *arg)
{
    dup2(other, number);
    return arg;
}
int main(void)
{
    pthread_t one, two;
    int ends[2];
#ifdef NOTHING
    pipe(ends);
    number = ends[0];
    other = ends[1];
#elif defined MAP
    number = memfd_create("file", 0);
    ftruncate(number, 4096);
    other = eventfd(0, 0);
#else
    pipe(ends);
    number = eventfd(0, 0);
    other = open("/dev/null", O_RDONLY);
#ifdef OFFSET
    number = ends[0];
#endif
#endif
    pthread_create(&one, 0, twice, 0);
    pthread_create(&two, 0, replace, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
