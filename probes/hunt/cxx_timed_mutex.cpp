//~ about: std::timed_mutex: not getting it is possible, however long one waits
//~ revisions: ignored looks
//~[ignored] truth: race misuse
//~[looks] truth: clean
#include <chrono>
#include <mutex>
#include <thread>
static std::timed_mutex m;
static int n;
static void work()
{
    bool got = m.try_lock_for(std::chrono::hours(1));
#ifdef LOOKS
    if (!got)
        return;
#endif
    n++;
    if (got)
        m.unlock();
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    return 0;
}
