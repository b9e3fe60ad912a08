//~ about: the configuration is loaded once by `call_once`; one revision reads it without
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <mutex>
#include <thread>
static std::once_flag loaded;
static int limit, depth;
static void load()
{
    limit = 10;
    depth = 3;
}
static int use()
{
    std::call_once(loaded, load);
    return limit * depth;
}
int main()
{
    int one = 0;
    std::thread a([&one] { one = use(); });
#ifdef FIXED
    int other = use();
#else
    int other = limit;
#endif
    a.join();
    return one + other == 0;
}
