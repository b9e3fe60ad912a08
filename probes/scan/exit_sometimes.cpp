//~ about: the function that joins the thread is registered only for some arguments
//~ revisions: bug fixed
//~[bug] truth: race
//~[bug] args: quick
//~[fixed] truth: clean
//~[fixed] want: proved
#include <cstdlib>
#include <pthread.h>
static pthread_t thread;
static int last;
static void *work(void *)
{
    last++;
    return nullptr;
}
static void join() { pthread_join(thread, nullptr); }
static void finish() { last = 1; }
int main(int count, char **)
{
    pthread_create(&thread, nullptr, work, nullptr);
    atexit(finish);
#ifdef BUG
    if (count < 2)
#endif
        atexit(join);
    return count > 9;
}
