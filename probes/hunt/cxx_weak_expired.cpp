//~ about: expired() says no, and then it is too late
//~ revisions: bug fixed
//~[bug] truth: crash assertion
//~[bug] preemptions: 1
//~[fixed] truth: clean
#include <cassert>
#include <memory>
#include <thread>
int main()
{
    auto owner = std::make_shared<int>(3);
    std::weak_ptr<int> watch = owner;
    std::thread a([o = std::move(owner)]() mutable { o.reset(); });
#ifdef BUG
    if (!watch.expired()) {
        auto p = watch.lock();
        assert(p);
        assert(*p == 3);
    }
#else
    if (auto p = watch.lock())
        assert(*p == 3);
#endif
    a.join();
}
