// Fixed twin of split_increment.cpp: the increment is one atomic operation.

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> n{0};

static void increment() {
    n++;
}

int main() {
    std::thread first(increment);
    std::thread second(increment);
    first.join();
    second.join();
    assert(n == 2);
    return 0;
}
