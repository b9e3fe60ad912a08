//~ about: std::atomic::wait without a notify after the store, with one before it, and as it should be
//~ revisions: missing before ok
//~ flags: -std=c++20
//~[missing] truth: deadlock lost-wakeup
//~[before] truth: deadlock lost-wakeup
//~[ok] truth: clean
//~ preemptions: 1
#include <atomic>
#include <thread>
static std::atomic<int> flag;
int main()
{
    std::thread waiter([] { flag.wait(0); });
#ifdef BEFORE
    flag.notify_one();
#endif
    flag.store(1);
#ifdef OK
    flag.notify_one();
#endif
    waiter.join();
}
