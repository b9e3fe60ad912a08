// Fixed twin of async_early_read.cpp: the future is waited for first, which orders the task before the read.

#include <future>

int result;

static void compute() {
    result = 42;
}

int main() {
    std::future<void> done = std::async(std::launch::async, compute);
    done.get();
    int seen = result;
    return seen != 0 && seen != 42;
}
