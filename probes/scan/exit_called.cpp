//~ about: `exit` in a function that `main` calls, before the thread is joined or after it
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <cstdlib>
#include <pthread.h>
static int last;
struct Global {
    ~Global() { last = 1; }
};
static Global global;
static void *work(void *)
{
    last++;
    return nullptr;
}
static void leave() { exit(0); }
int main()
{
    pthread_t a;
    pthread_create(&a, nullptr, work, nullptr);
#ifdef FIXED
    pthread_join(a, nullptr);
#endif
    leave();
    return 0;
}
