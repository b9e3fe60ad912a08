//~ about: two threads read from one string stream, or each from its own
//~ revisions: bug fixed
//~[bug] truth: race assertion
//~[fixed] truth: clean
#include <cassert>
#include <sstream>
#include <thread>
static std::istringstream shared("17 25");
int main()
{
    int x = 0, y = 0;
    std::thread a([&] { shared >> x; });
    std::thread b([&] {
#ifdef BUG
        shared >> y;
#else
        std::istringstream own("25");
        own >> y;
#endif
    });
    a.join();
    b.join();
    assert(x + y == 42);
}
