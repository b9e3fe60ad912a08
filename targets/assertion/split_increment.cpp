// Load and store are atomic, the increment made of them is not: an update is lost without any data race.
//
// preemptions: 1
//
// The twin is right because the increment is one atomic operation.

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> n{0};

static void increment() {
    n = n + 1;
}

int main() {
    std::thread first(increment);
    std::thread second(increment);
    first.join();
    second.join();
    assert(n == 2); //~ assertion
    return 0;
}
