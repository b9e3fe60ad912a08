//~ about: a latch for two, and three that write before they count down
//~ flags: -std=c++20
//~ revisions: bug fixed
//~[bug] truth: race assertion
//~[fixed] truth: clean
#include <cassert>
#include <latch>
#include <thread>
#ifdef BUG
static std::latch ready(1);
#else
static std::latch ready(2);
#endif
static int x, y;
int main()
{
    std::thread a([] { x = 1; ready.count_down(); });
#ifdef BUG
    std::thread b([] { y = 1; });
#else
    std::thread b([] { y = 1; ready.count_down(); });
#endif
    ready.wait();
    assert(x == 1 && y == 1);
    a.join();
    b.join();
}
