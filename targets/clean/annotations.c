// Says what only its author can know, by the annotations that race detectors have agreed upon: a lock that is made of
// volatile accesses, a hand-over by a plain flag, a counter that need not be right, memory that is freed when a plain flag
// says that no thread uses it. Where there is no detector, the
// annotations do nothing.

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ANNOTATED
#endif
#endif

#ifdef ANNOTATED
void AnnotateHappensBefore(const char *file, int line, const volatile void *at);
void AnnotateHappensAfter(const char *file, int line, const volatile void *at);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, long size, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void __tsan_acquire(void *at);
void __tsan_release(void *at);
void __tsan_mutex_create(void *at, unsigned flags);
void __tsan_mutex_pre_lock(void *at, unsigned flags);
void __tsan_mutex_post_lock(void *at, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *at, unsigned flags);
void __tsan_mutex_post_unlock(void *at, unsigned flags);
void __tsan_mutex_destroy(void *at, unsigned flags);
#else
#define AnnotateHappensBefore(file, line, at)
#define AnnotateHappensAfter(file, line, at)
#define AnnotateBenignRaceSized(file, line, at, size, why)
#define AnnotateIgnoreReadsBegin(file, line)
#define AnnotateIgnoreReadsEnd(file, line)
#define AnnotateIgnoreWritesBegin(file, line)
#define AnnotateIgnoreWritesEnd(file, line)
#define __tsan_acquire(at)
#define __tsan_release(at)
#define __tsan_mutex_create(at, flags)
#define __tsan_mutex_pre_lock(at, flags)
#define __tsan_mutex_post_lock(at, flags, recursion)
#define __tsan_mutex_pre_unlock(at, flags)
#define __tsan_mutex_post_unlock(at, flags)
#define __tsan_mutex_destroy(at, flags)
#endif

static volatile int word;
static volatile int is_ready, was_released, was_noted;
int protected_by_own_lock, handed_over, released, hits;

static void lock(void) {
    __tsan_mutex_pre_lock((void *)&word, 0);
    while (__sync_lock_test_and_set(&word, 1))
        sched_yield();
    __tsan_mutex_post_lock((void *)&word, 0, 0);
}

static void unlock(void) {
    __tsan_mutex_pre_unlock((void *)&word, 0);
    word = 0;
    __tsan_mutex_post_unlock((void *)&word, 0);
}

static int look(volatile int *flag) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    int value = *flag;
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    return value;
}

static void *work(void *note) {
    *(int *)note = 1;
    was_noted = 1;
    lock();
    protected_by_own_lock++;
    unlock();
    hits++;
    while (!look(&is_ready))
        sched_yield();
    AnnotateHappensAfter(__FILE__, __LINE__, &is_ready);
    handed_over++;
    while (!look(&was_released))
        sched_yield();
    __tsan_acquire((void *)&was_released);
    released++;
    return NULL;
}

int main(void) {
    pthread_t worker;
    __tsan_mutex_create((void *)&word, 0);
    AnnotateBenignRaceSized(__FILE__, __LINE__, &hits, sizeof hits, "need not be right");
    // The annotations beside them describe the flags.
    AnnotateBenignRaceSized(__FILE__, __LINE__, &is_ready, sizeof is_ready, "annotated");
    AnnotateBenignRaceSized(__FILE__, __LINE__, &was_released, sizeof was_released, "annotated");
    AnnotateBenignRaceSized(__FILE__, __LINE__, &was_noted, sizeof was_noted, "looked at without an annotation");
    int *note = malloc(sizeof *note);
    pthread_create(&worker, NULL, work, note);
    while (!look(&was_noted))
        sched_yield();
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    free(note);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    lock();
    protected_by_own_lock++;
    unlock();
    hits++;
    handed_over = 1;
    AnnotateHappensBefore(__FILE__, __LINE__, &is_ready);
    is_ready = 1;
    released = 1;
    __tsan_release((void *)&was_released);
    was_released = 1;
    pthread_join(worker, NULL);
    __tsan_mutex_destroy((void *)&word, 0);
    return protected_by_own_lock + handed_over + released - 6;
}
