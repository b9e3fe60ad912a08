//~ about: the handler of an exception that only the library throws
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
static std::mutex m;
static int failures;
static void look(const std::vector<int> &all, size_t at)
{
    try {
        (void)all.at(at);
    } catch (const std::out_of_range &) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(m);
#endif
        failures++;
    }
}
int main()
{
    std::vector<int> all(3);
    std::thread a([&] { look(all, 3); });
    look(all, 4);
    a.join();
    return failures == 2 ? 0 : 1;
}
