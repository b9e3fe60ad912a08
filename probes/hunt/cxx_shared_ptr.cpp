//~ about: one shared_ptr object, assigned by one thread and copied by another
//~ revisions: bug fixed
//~ flags: -std=c++17
//~[bug] truth: race use-after-free double-free crash assertion
//~[fixed] truth: clean
#include <cassert>
#include <memory>
#include <thread>
static std::shared_ptr<int> current = std::make_shared<int>(1);
static void publish()
{
    auto next = std::make_shared<int>(2);
#ifdef FIXED
    std::atomic_store(&current, next);
#else
    current = next;
#endif
}
static void use()
{
#ifdef FIXED
    auto mine = std::atomic_load(&current);
#else
    auto mine = current;
#endif
    assert(*mine == 1 || *mine == 2);
}
int main()
{
    std::thread a(publish), b(use);
    a.join();
    b.join();
}
