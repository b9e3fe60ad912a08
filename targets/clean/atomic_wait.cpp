// Waiting on atomics: a flag, a number, and a pointer that others set and notify. What they wrote before is there.
//
// cflags: -std=c++20

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic_flag flag;
static std::atomic<int> number;
static std::atomic<const int *> pointer;
static int payload, other;

int main() {
    std::thread waiter([] {
        flag.wait(false);
        number.wait(0);
        assert(payload == 5);
    });
    std::thread second([] {
        pointer.wait(nullptr);
        assert(*pointer.load() == 6);
    });
    payload = 5;
    flag.test_and_set();
    flag.notify_one();
    number.store(1, std::memory_order_release);
    number.notify_all();
    other = 6;
    pointer.store(&other);
    pointer.notify_all();
    waiter.join();
    second.join();
    return 0;
}
