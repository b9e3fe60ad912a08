//~ about: an exception leaves a function that holds a lock
//~ revisions: manual guard
//~[manual] truth: deadlock misuse
//~[guard] truth: clean
#include <mutex>
#include <thread>
static std::mutex m;
static int n;
static void fails(bool yes)
{
#ifdef MANUAL
    m.lock();
#else
    std::lock_guard<std::mutex> l(m);
#endif
    n++;
    if (yes)
        throw 1;
#ifdef MANUAL
    m.unlock();
#endif
}
static void work(bool yes)
{
    try {
        fails(yes);
    } catch (int) {
    }
}
int main()
{
    std::thread a(work, true), b(work, false);
    a.join();
    b.join();
    return 0;
}
