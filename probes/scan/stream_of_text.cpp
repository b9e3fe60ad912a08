//~ about: a stream that writes to a string does not synchronise itself
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <mutex>
#include <pthread.h>
#include <sstream>
static std::mutex m;
static void *print(void *stream)
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(m);
#endif
    *static_cast<std::ostringstream *>(stream) << 12 << "text";
    return nullptr;
}
int main()
{
    std::ostringstream stream;
    pthread_t a;
    pthread_create(&a, nullptr, print, &stream);
    print(&stream);
    pthread_join(a, nullptr);
    return stream.str().empty();
}
