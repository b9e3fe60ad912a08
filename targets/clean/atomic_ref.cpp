// Plain variables that threads use through std::atomic_ref only, and main before and after them.
//
// cflags: -std=c++20

#include <atomic>
#include <cassert>
#include <thread>

static int counter;
static double sum;

static void add() {
    std::atomic_ref<int>(counter).fetch_add(1);
    std::atomic_ref<double> shared(sum);
    double seen = shared.load();
    while (!shared.compare_exchange_weak(seen, seen + 0.5)) {
    }
}

int main() {
    counter = 1;
    sum = 0;
    std::thread first(add), second(add);
    first.join();
    second.join();
    assert(counter == 3 && sum == 1.0);
    return 0;
}
