//~ about: whether a call on a page succeeds depends on what another thread has done to its mapping
//~ revisions: lock lock2 unlock advise advise_posix in_core write_back remapped raw place apart
//~ truth: assertion
//~ want: found
//~ preemptions: 1
//~[place] preemptions: 0
//~[apart] truth: clean
//~[apart] want: proved
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define SIZE 4096
static void *page, *other;
static atomic_int refused;
static void *map(void *at, int flags)
{
    return mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}
static int look(void)
{
#if defined LOCK || defined APART
    return mlock(page, SIZE);
#elif defined LOCK2
    return mlock2(page, SIZE, MLOCK_ONFAULT);
#elif defined UNLOCK
    return munlock(page, SIZE);
#elif defined ADVISE || defined REMAPPED
    return madvise(page, SIZE, MADV_NORMAL);
#elif defined ADVISE_POSIX
    return posix_madvise(page, SIZE, POSIX_MADV_WILLNEED);
#elif defined IN_CORE
    unsigned char in_memory;
    return mincore(page, SIZE, &in_memory);
#elif defined WRITE_BACK
    return msync(page, SIZE, MS_ASYNC);
#elif defined RAW
    return syscall(SYS_madvise, page, SIZE, MADV_NORMAL);
#else
    return 0;
#endif
}
static void *change(void *unused)
{
#if defined REMAPPED
    mremap(page, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
#elif defined RAW
    syscall(SYS_munmap, page, SIZE);
#elif defined PLACE
    if (map(other, MAP_FIXED_NOREPLACE) == MAP_FAILED)
        refused = 1;
#elif defined APART
    munmap(other, SIZE);
#else
    munmap(page, SIZE);
#endif
    return unused;
}
int main(void)
{
    pthread_t thread;
    page = map(0, 0);
    other = map(0, 0);
#ifdef PLACE
    munmap(other, SIZE);
#endif
    pthread_create(&thread, 0, change, 0);
#ifdef PLACE
    map(other, MAP_FIXED_NOREPLACE);
#endif
    int before = look();
    assert(look() == before);
    pthread_join(thread, 0);
    assert(!refused);
    return 0;
}
