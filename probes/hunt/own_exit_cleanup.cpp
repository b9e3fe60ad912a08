//~ about: pthread_exit runs the destructors of the frames that it leaves
//~ truth: clean
#include <cassert>
#include <pthread.h>
static int gone[2];
struct Note {
    long i;
    ~Note() { gone[i]++; }
};
static void leave(long i)
{
    Note n{i};
    pthread_exit(nullptr);
}
static void *work(void *arg)
{
    leave(reinterpret_cast<long>(arg));
    return arg;
}
int main()
{
    pthread_t a, b;
    pthread_create(&a, nullptr, work, reinterpret_cast<void *>(0L));
    pthread_create(&b, nullptr, work, reinterpret_cast<void *>(1L));
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    assert(gone[0] == 1 && gone[1] == 1);
}
