//~ about: an exception that a `noexcept` function stops runs the destructors below it
//~ revisions: bug fixed
//~[bug] truth: race crash
//~[fixed] truth: any
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
struct Last {
    ~Last()
    {
#ifdef FIXED
        pthread_mutex_lock(&m);
#endif
        x++;
#ifdef FIXED
        pthread_mutex_unlock(&m);
#endif
    }
};
static void fail() { throw 1; }
static void work()
{
    Last last;
    fail();
}
static void stop() noexcept { work(); }
static void *one(void *)
{
    stop();
    return nullptr;
}
int main()
{
    pthread_t a, b;
    pthread_create(&a, nullptr, one, nullptr);
    pthread_create(&b, nullptr, one, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    return 0;
}
