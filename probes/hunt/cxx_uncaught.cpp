//~ about: an update is lost, and an uncaught exception shows it
//~ truth: crash
//~ preemptions: 1
#include <atomic>
#include <stdexcept>
#include <thread>
static std::atomic<int> n;
int main()
{
    auto add = [] { n = n + 1; };
    std::thread a(add), b(add);
    a.join();
    b.join();
    if (n != 2)
        throw std::logic_error("lost");
}
