//~ about: a value that is set at once, while a destructor at the end of the thread still writes
//~ revisions: bug fixed
//~[bug] truth: race assertion
//~[bug] want: found
//~[fixed] truth: clean
#include <cassert>
#include <future>
#include <thread>
static int plain;
struct Last {
    ~Last() { plain = 2; }
};
int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] {
        thread_local Last last;
        (void)&last;
#ifdef BUG
        promise.set_value(7);
#else
        promise.set_value_at_thread_exit(7);
#endif
    });
    assert(future.get() == 7);
    assert(plain == 2);
    thread.join();
}
