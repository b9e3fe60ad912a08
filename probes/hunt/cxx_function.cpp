//~ about: std::function replaced while it is called
//~ revisions: bug fixed
//~[bug] truth: race use-after-free crash
//~[fixed] truth: clean
#include <functional>
#include <mutex>
#include <thread>
static std::function<int(int)> step = [](int v) { return v + 1; };
static std::mutex m;
int main()
{
    int big[8] = {3};
    std::thread a([&] {
#ifdef FIXED
        std::lock_guard<std::mutex> g(m);
#endif
        step = [big](int v) { return v + big[0]; };
    });
    int got;
    {
#ifdef FIXED
        std::lock_guard<std::mutex> g(m);
#endif
        got = step(1);
    }
    a.join();
    return got == 2 || got == 4 ? 0 : 1;
}
