//~ about: threads of the C++ library, with a lock that one of them does not take
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <mutex>
#include <thread>
static std::mutex m;
static int x;
int main()
{
    std::thread a([] {
        std::lock_guard<std::mutex> guard(m);
        x++;
    });
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(m);
#endif
        x++;
    }
    a.join();
    x++;
    return 0;
}
