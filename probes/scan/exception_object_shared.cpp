//~ about: a handler lends the exception to another thread, and ends before it
//~ revisions: bug fixed
//~[bug] truth: race use-after-free
//~[fixed] truth: clean
#include <pthread.h>
struct Error {
    int code;
};
static int seen;
static void *look(void *error)
{
    seen = static_cast<Error *>(error)->code;
    return nullptr;
}
int main()
{
    pthread_t a;
    try {
        throw Error{3};
    } catch (Error &error) {
        pthread_create(&a, nullptr, look, &error);
#ifdef FIXED
        pthread_join(a, nullptr);
#endif
    }
#ifdef BUG
    pthread_join(a, nullptr);
#endif
    return seen == 3 ? 0 : 1;
}
