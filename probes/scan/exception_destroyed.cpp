//~ about: the end of a handler calls the destructor of the exception
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int alive;
struct Counted {
    Counted() = default;
    ~Counted()
    {
#ifdef FIXED
        pthread_mutex_lock(&m);
#endif
        alive--;
#ifdef FIXED
        pthread_mutex_unlock(&m);
#endif
    }
};
static void *one(void *)
{
    try {
        throw Counted();
    } catch (const Counted &) {
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
