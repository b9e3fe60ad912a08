//~ about: matching by one const regex from two threads is fine; replacing it meanwhile is not
//~ revisions: bug fixed
//~[bug] truth: race use-after-free crash
//~[fixed] truth: clean
#include <cassert>
#include <regex>
#include <string>
#include <thread>
static std::regex pattern("a+b");
static void match()
{
    assert(std::regex_search(std::string("xaab"), pattern));
}
int main()
{
    std::thread a(match);
#ifdef BUG
    std::thread b([] { pattern = std::regex("a*b"); });
#else
    std::thread b(match);
#endif
    a.join();
    b.join();
}
