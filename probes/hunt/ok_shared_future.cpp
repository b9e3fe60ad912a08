//~ about: two threads wait for one shared_future; an exception comes through another
//~ truth: clean
#include <cassert>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
int main()
{
    std::promise<std::string> p;
    std::promise<void> q;
    auto all = p.get_future().share();
    auto fails = q.get_future();
    auto look = [all] { assert(all.get() == "a text that is too long for the string itself"); };
    std::thread a(look), b(look);
    std::thread c([&] { q.set_exception(std::make_exception_ptr(std::runtime_error("x"))); });
    p.set_value("a text that is too long for the string itself");
    try {
        fails.get();
        assert(false);
    } catch (const std::runtime_error &) {
    }
    a.join();
    b.join();
    c.join();
}
