// A worker counts the latch down before it writes its result. Main, which waited for the latch, reads the result
// meanwhile.
//
// cflags: -std=c++20
// preemptions: 0
//
// The twin is right because the result is there when the latch is counted down.

#include <latch>
#include <thread>

static std::latch finished(1);
int result;

static void compute() {
    finished.count_down();
    result = 42; //~ data-race
}

int main() {
    std::thread worker(compute);
    finished.wait();
    int seen = result; //~ data-race
    worker.join();
    return seen > 42;
}
