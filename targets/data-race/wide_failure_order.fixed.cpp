// A compare-exchange of sixteen bytes that fails acquires what the found value announces.
// preemptions: 1
// cflags: -mcx16 -latomic
#include <atomic>
#include <cassert>
#include <thread>

struct alignas(16) Head {
    long node;
    long version;
};

std::atomic<Head> head;
int payload;

static void publish() {
    payload = 1;
    head.store(Head{0, 1}, std::memory_order_release);
}

int main() {
    std::thread publisher(publish);
    Head expected{0, 0};
    // Only the second half of the value changes.
    if (!head.compare_exchange_strong(expected, Head{0, 5}, std::memory_order_release, std::memory_order_acquire)) {
        assert(expected.version == 1);
        assert(payload == 1);
    }
    publisher.join();
    return 0;
}
