//~ about: a future that becomes ready when the thread ends; its value is read after it
//~ revisions: promise task after_destructor
//~ truth: clean
//~ want: proved
#include <cassert>
#include <future>
#include <thread>
static int plain;
struct Last {
    ~Last() { plain = 2; }
};
int main()
{
#ifdef TASK
    std::packaged_task<int()> task([] { plain = 1; return 7; });
    std::future<int> future = task.get_future();
    std::thread thread([&] { task.make_ready_at_thread_exit(); });
#else
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] {
#ifdef AFTER_DESTRUCTOR
        thread_local Last last;
        (void)&last;
#endif
        plain = 1;
        promise.set_value_at_thread_exit(7);
    });
#endif
    assert(future.get() == 7);
#ifdef AFTER_DESTRUCTOR
    assert(plain == 2);
#else
    assert(plain == 1);
#endif
    thread.join();
}
