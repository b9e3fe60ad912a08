//~ about: an exception leaves a section, and its handler continues without the lock
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
struct Guard {
    Guard() { pthread_mutex_lock(&m); }
    ~Guard() { pthread_mutex_unlock(&m); }
};
static void *one(void *)
{
    try {
        Guard guard;
        x++;
        throw 1;
    } catch (int) {
#ifdef FIXED
        Guard guard;
#endif
        x++;
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
