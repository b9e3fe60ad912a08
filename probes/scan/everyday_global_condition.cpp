//~ about: a global condition variable, whose destructor runs at the end of the program
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable ready_changed;
static bool ready;
static int data;
int main()
{
    std::thread sender([] {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(m);
#endif
        data = 42;
        ready = true;
        ready_changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(m);
        while (!ready)
            ready_changed.wait(lock);
        data++;
    }
    sender.join();
    return data == 43 ? 0 : 1;
}
