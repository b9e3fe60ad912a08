//~ about: the variants of file functions for large files
//~ revisions: counter seek mmap fopen
//~ flags: -D_FILE_OFFSET_BITS=64 -D_LARGEFILE64_SOURCE
//~ truth: assertion
//~ preemptions: 1
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static int fd;
static FILE *f;
static atomic_int *map;
static void *add(void *arg)
{
    int v = 0;
#ifdef COUNTER
    pread64(fd, &v, sizeof v, 0);
    v++;
    pwrite64(fd, &v, sizeof v, 0);
#elif defined SEEK
    lseek64(fd, 0, SEEK_SET);
    read(fd, &v, sizeof v);
    v++;
    lseek64(fd, 0, SEEK_SET);
    write(fd, &v, sizeof v);
#elif defined MMAP
    v = *map;
    pwrite64(fd, &(int){v + 1}, sizeof v, 0);
#else
    fseeko64(f, 0, SEEK_SET);
    fread(&v, sizeof v, 1, f);
    v++;
    fseeko64(f, 0, SEEK_SET);
    fwrite(&v, sizeof v, 1, f);
    fflush(f);
#endif
    return arg;
}
int main(void)
{
    char name[] = "./offXXXXXX";
    int v = 0;
    fd = mkostemp64(name, 0);
    f = fdopen(dup(fd), "r+");
    unlink(name);
    write(fd, &v, sizeof v);
    map = mmap64(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pread64(fd, &v, sizeof v, 0);
    assert(v == 2);
    return 0;
}
