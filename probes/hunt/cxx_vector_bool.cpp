//~ about: elements of vector<bool> share a word, those of vector<char> do not
//~ revisions: bug fixed
//~[bug] truth: race assertion
//~[fixed] truth: clean
#include <cassert>
#include <thread>
#include <vector>
#ifdef BUG
static std::vector<bool> flags(8);
#else
static std::vector<char> flags(8);
#endif
int main()
{
    std::thread a([] { flags[1] = true; }), b([] { flags[2] = true; });
    a.join();
    b.join();
    assert(flags[1] && flags[2]);
}
