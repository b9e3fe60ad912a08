//~ about: std::shared_mutex: what is written under a shared lock
//~ revisions: shared unique
//~[shared] truth: race
//~[unique] truth: clean
//~ flags: -std=c++20
#include <mutex>
#include <shared_mutex>
#include <thread>
static std::shared_mutex m;
static int n;
static void work()
{
#ifdef SHARED
    std::shared_lock l(m);
#else
    std::unique_lock l(m);
#endif
    n++;
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    return 0;
}
