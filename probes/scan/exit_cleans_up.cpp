//~ about: `pthread_exit` runs the destructors of what is alive in its thread
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
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
static void leave() { pthread_exit(nullptr); }
static void *one(void *)
{
    Last last;
    leave();
    return nullptr;
}
int main()
{
    pthread_t a, b;
    pthread_create(&a, nullptr, one, nullptr);
    pthread_create(&b, nullptr, one, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    return (int)sizeof m == 0;
}
