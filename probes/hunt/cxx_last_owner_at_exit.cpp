//~ about: a promise is set when its thread exits; the last owner destroys the shared state, even if that owner is the C++ library
//~ revisions: moved dropped early
//~ truth: clean
//~[early] truth: race
//~ want: proved
//~[early] want: found
#include <cassert>
#include <future>
#include <thread>
static int plain;
int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([](std::promise<int> mine) {
        plain = 1;
        mine.set_value_at_thread_exit(3);
    }, std::move(promise));
#ifdef DROPPED
    // The state may be gone before the thread ends.
    future = std::future<int>();
#else
#ifdef EARLY
    assert(plain <= 1);
#endif
    int value = future.get();
    assert(value == 3 && plain == 1);
#endif
    thread.join();
}
