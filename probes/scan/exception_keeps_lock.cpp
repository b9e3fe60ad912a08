//~ about: an exception leaves a function that has given up the lock of its caller, or not
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
struct Refused {
    int code;
};
static void pause(int code)
{
    pthread_mutex_unlock(&m);
#ifdef FIXED
    pthread_mutex_lock(&m);
#endif
    if (code)
        throw Refused{code};
#ifdef BUG
    pthread_mutex_lock(&m);
#endif
}
static void *one(void *)
{
    pthread_mutex_lock(&m);
    try {
        pause(2);
        pthread_mutex_unlock(&m);
    } catch (const Refused &refused) {
        x += refused.code;
#ifdef FIXED
        pthread_mutex_unlock(&m);
#endif
    }
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
