//~ about: call_once whose first call throws: the second does the work
//~ truth: clean
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>
static std::once_flag once;
static int tries, value;
static void init()
{
    if (tries++ == 0)
        throw std::runtime_error("not yet");
    value = 7;
}
int main()
{
    auto get = [] {
        for (;;) {
            try {
                std::call_once(once, init);
                break;
            } catch (const std::runtime_error &) {
            }
        }
        assert(value == 7);
    };
    std::thread a(get), b(get);
    a.join();
    b.join();
    assert(tries == 2);
}
