// A compare-exchange of sixteen bytes that fails tells what it has found, but its failure order does not acquire: the
// data that the found value announces may not be there yet.
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
    payload = 1; //~ data-race
    head.store(Head{0, 1}, std::memory_order_release);
}

int main() {
    std::thread publisher(publish);
    Head expected{0, 0};
    // Only the second half of the value changes.
    if (!head.compare_exchange_strong(expected, Head{0, 5}, std::memory_order_release, std::memory_order_relaxed)) {
        assert(expected.version == 1);
        assert(payload == 1); //~ data-race
    }
    publisher.join();
    return 0;
}
