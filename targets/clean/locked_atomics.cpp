// An atomic object that no instruction is wide enough for: the compiler calls libatomic, with memory orders as arguments.
// cflags: -latomic
#include <atomic>
#include <cassert>
#include <thread>

struct Triple {
    long a, b, c;
};

std::atomic<Triple> shared;
int payload;

static void publish() {
    payload = 1;
    shared.store(Triple{1, 2, 3}, std::memory_order_release);
}

int main() {
    std::thread publisher(publish);
    if (shared.load(std::memory_order_acquire).c == 3) {
        assert(payload == 1);
    }
    Triple expected{1, 2, 3};
    if (shared.compare_exchange_strong(expected, Triple{4, 5, 6}, std::memory_order_acquire)) {
        assert(payload == 1);
    } else {
        assert(expected.a == 0);
    }
    Triple last = shared.exchange(Triple{7, 8, 9}, std::memory_order_acq_rel);
    assert(last.a == 0 || (last.a == 1 && payload == 1) || last.a == 4);
    publisher.join();
    return 0;
}
