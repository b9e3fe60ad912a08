//~ about: two threads wait for an atomic variable, and one of them is notified
//~ revisions: one all
//~[one] truth: deadlock lost-wakeup
//~[all] truth: clean
//~ flags: -std=c++20
#include <atomic>
#include <thread>
static std::atomic<int> ready;
static int data;
static void waits()
{
    ready.wait(0);
    if (data != 1)
        __builtin_trap();
}
int main()
{
    std::thread a(waits), b(waits);
    data = 1;
    ready = 1;
#ifdef ONE
    ready.notify_one();
#else
    ready.notify_all();
#endif
    a.join();
    b.join();
    return 0;
}
