//~ about: the same, caught in main, as test runners do: the status says so
//~ truth: exit-status
//~ preemptions: 1
#include <atomic>
#include <iostream>
#include <stdexcept>
#include <thread>
static std::atomic<int> n;
static void test()
{
    auto add = [] { n = n + 1; };
    std::thread a(add), b(add);
    a.join();
    b.join();
    if (n != 2)
        throw std::logic_error("lost");
}
int main()
{
    try {
        test();
        return 0;
    } catch (const std::exception &e) {
        std::cerr << "FAILED: " << e.what() << "\n";
        return 2;
    }
}
