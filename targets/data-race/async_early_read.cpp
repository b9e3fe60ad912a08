// The result of an asynchronous task is read before its future was waited for.
//
// preemptions: 0
//
// The twin is right because the future is waited for first, which orders the task before the read.

#include <future>

int result;

static void compute() {
    result = 42; //~ data-race
}

int main() {
    std::future<void> done = std::async(std::launch::async, compute);
    int seen = result; //~ data-race
    done.get();
    return seen != 0 && seen != 42;
}
