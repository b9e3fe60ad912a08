//~ about: the first thread sets the promise; a check does not prevent the second
//~ revisions: bug fixed
//~[bug] truth: crash
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <atomic>
#include <future>
#include <thread>
static std::promise<int> result;
static std::atomic<bool> done;
static void offer(int v)
{
#ifdef BUG
    if (!done) {
        done = true;
        result.set_value(v);
    }
#else
    if (!done.exchange(true))
        result.set_value(v);
#endif
}
int main()
{
    auto future = result.get_future();
    std::thread a(offer, 1), b(offer, 2);
    int got = future.get();
    a.join();
    b.join();
    return got == 1 || got == 2 ? 0 : 1;
}
