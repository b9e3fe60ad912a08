// Atomic loads, stores and updates with every memory order. Plain data is handed on only where acquire meets release.

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> relaxed, released, consumed, ordered, updated;
static int payload[4];

static void produce() {
    relaxed.fetch_add(1, std::memory_order_relaxed);
    payload[0] = 1;
    released.store(1, std::memory_order_release);
    payload[1] = 2;
    consumed.store(1, std::memory_order_release);
    payload[2] = 3;
    ordered.store(1, std::memory_order_seq_cst);
    payload[3] = 4;
    updated.exchange(1, std::memory_order_acq_rel);
}

static void consume() {
    relaxed.fetch_or(2, std::memory_order_relaxed);
    if (released.load(std::memory_order_acquire) == 1)
        assert(payload[0] == 1);
    if (consumed.load(std::memory_order_consume) == 1)
        assert(payload[1] == 2);
    if (ordered.load() == 1)
        assert(payload[2] == 3);
    int expected = 1;
    if (updated.compare_exchange_strong(expected, 2, std::memory_order_acq_rel, std::memory_order_acquire))
        assert(payload[3] == 4);
    expected = 2;
    updated.compare_exchange_weak(expected, 3, std::memory_order_release, std::memory_order_relaxed);
}

int main() {
    std::thread producer(produce), consumer(consume);
    producer.join();
    consumer.join();
    return 0;
}
