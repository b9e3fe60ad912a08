//~ about: one thread closes a stream while another one locks it
//~ revisions: lock try_lock fixed
//~ truth: data-race use-after-free
//~[fixed] truth: clean
#include <pthread.h>
#include <stdio.h>

static FILE *stream;

static void *worker(void *arg)
{
#ifdef TRY_LOCK
    if (ftrylockfile(stream) == 0)
        funlockfile(stream);
#else
    flockfile(stream);
    funlockfile(stream);
#endif
    return arg;
}

int main(void)
{
    pthread_t thread;
    stream = fopen("/dev/null", "w");
    pthread_create(&thread, 0, worker, 0);
#ifdef FIXED
    pthread_join(thread, 0);
    fclose(stream);
#else
    fclose(stream);
    pthread_join(thread, 0);
#endif
    return 0;
}
