// Fixed twin of latch_too_early.cpp: the result is there when the latch is counted down.
//
// cflags: -std=c++20

#include <latch>
#include <thread>

static std::latch finished(1);
int result;

static void compute() {
    result = 42;
    finished.count_down();
}

int main() {
    std::thread worker(compute);
    finished.wait();
    int seen = result;
    worker.join();
    return seen > 42;
}
