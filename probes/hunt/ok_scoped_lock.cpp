//~ about: two mutexes at once, in both orders
//~ truth: clean
//~ flags: -std=c++17
#include <cassert>
#include <mutex>
#include <thread>
static std::mutex x, y;
static int a = 10, b;
int main()
{
    std::thread t([] {
        std::scoped_lock g(x, y);
        a -= 3;
        b += 3;
    });
    {
        std::scoped_lock g(y, x);
        assert(a + b == 10);
    }
    t.join();
    assert(b == 3);
}
