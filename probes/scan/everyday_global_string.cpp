//~ about: a global string that threads read, and that one revision changes meanwhile
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <atomic>
#include <string>
#include <thread>
#include <vector>
static std::string name = "a name that is long enough for the heap";
static std::vector<int> sizes;
static std::atomic<size_t> length;
int main()
{
    sizes.push_back(3);
    std::thread a([] { length += name.size() + sizes[0]; });
    std::thread b([] { length += name.size() + sizes.size(); });
#ifdef BUG
    name += "!";
#endif
    a.join();
    b.join();
    return length == 0;
}
