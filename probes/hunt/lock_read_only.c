//~ about: a lock of a file that is only read does not reach executions that run at the same time
//~ revisions: whole section
//~ options: --jobs 2
//~ truth: clean
//~ want: proved
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
static atomic_int count;
static void *add(void *arg)
{
    for (int i = 0; i < 4; i++)
        count++;
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t one, two;
    int file = open(argv[0], O_RDONLY);
    assert(argc == 1 && file >= 0);
#ifdef WHOLE
    assert(flock(file, LOCK_EX | LOCK_NB) == 0);
#else
    struct flock lock = {.l_type = F_RDLCK};
    assert(fcntl(file, F_SETLK, &lock) == 0);
#endif
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
#ifdef SECTION
    lock.l_type = F_WRLCK;
    assert(fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
#endif
    return 0;
}
