//~ about: a thread waits for a file by inotify, and reads what another thread wrote; messages of the kernel may also be about others
//~ revisions: waits early
//~[waits] truth: clean
//~[waits] must-not: proved
//~[early] truth: assertion
//~[early] must-not: proved
//~[early] want: no-claim
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <unistd.h>
static atomic_int written;
static void *writes(void *unused)
{
#ifdef WAITS
    written = 1;
#endif
    close(open("news", O_CREAT | O_WRONLY, 0600));
    written = 1;
    return unused;
}
int main(void)
{
    char event[4096];
    pthread_t thread;
    int notes = inotify_init();
    inotify_add_watch(notes, ".", IN_CREATE);
    pthread_create(&thread, NULL, writes, NULL);
    if (read(notes, event, sizeof event) > 0)
        assert(written);
    pthread_join(thread, NULL);
    return 0;
}
