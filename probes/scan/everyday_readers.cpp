//~ about: a cache behind a `shared_mutex`; one revision writes under the lock of readers
//~ revisions: bug fixed
//~[bug] truth: race
//~[fixed] truth: clean
//~[fixed] want: proved
#include <shared_mutex>
#include <thread>
#include <mutex>
static std::shared_mutex m;
static int cache[4];
static int get(int i)
{
    std::shared_lock<std::shared_mutex> lock(m);
    return cache[i];
}
static void put(int i, int value)
{
#ifdef FIXED
    std::unique_lock<std::shared_mutex> lock(m);
#else
    std::shared_lock<std::shared_mutex> lock(m);
#endif
    cache[i] = value;
}
int main()
{
    std::thread a([] { put(1, 2); });
    std::thread b([] { put(1, 3); });
    int seen = get(1);
    a.join();
    b.join();
    return seen > 3;
}
