//~ about: an engine of random numbers has state
//~ revisions: bug fixed
//~[bug] truth: race assertion
//~[fixed] truth: clean
#include <cassert>
#include <random>
#include <thread>
#ifdef FIXED
static thread_local std::minstd_rand engine(1);
#else
static std::minstd_rand engine(1);
#endif
int main()
{
    unsigned long x = 0, y = 0;
    std::thread a([&] { x = engine(); }), b([&] { y = engine(); });
    a.join();
    b.join();
#ifdef FIXED
    assert(x == y);
#else
    assert(x != y);
#endif
}
