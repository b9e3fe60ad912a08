//~ about: a shared pointer that two threads assign to
//~ revisions: plain functions
//~[plain] truth: race use-after-free double-free crash
//~[functions] truth: clean
#include <memory>
#include <thread>
static std::shared_ptr<int> p = std::make_shared<int>(1);
static void set(int n)
{
    auto mine = std::make_shared<int>(n);
#ifdef PLAIN
    p = mine;
#else
    std::atomic_store(&p, mine);
#endif
}
int main()
{
    std::thread a(set, 2), b(set, 3);
    a.join();
    b.join();
    return 0;
}
