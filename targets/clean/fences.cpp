// Fences of every kind. Each one hands plain data on by a relaxed atomic: release to acquire, both in one, sequential
// consistency, and a release fence that an acquire load meets.

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> flags[4];
static int payload[4];

static void produce() {
    payload[0] = 1;
    std::atomic_thread_fence(std::memory_order_release);
    flags[0].store(1, std::memory_order_relaxed);
    payload[1] = 1;
    std::atomic_thread_fence(std::memory_order_acq_rel);
    flags[1].store(1, std::memory_order_relaxed);
    payload[2] = 1;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    flags[2].store(1, std::memory_order_relaxed);
    payload[3] = 1;
    std::atomic_thread_fence(std::memory_order_release);
    flags[3].fetch_add(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

static void consume() {
    if (flags[0].load(std::memory_order_relaxed) == 1) {
        std::atomic_thread_fence(std::memory_order_acquire);
        assert(payload[0] == 1);
    }
    if (flags[1].load(std::memory_order_relaxed) == 1) {
        std::atomic_thread_fence(std::memory_order_acq_rel);
        assert(payload[1] == 1);
    }
    if (flags[2].load(std::memory_order_relaxed) == 1) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        assert(payload[2] == 1);
    }
    if (flags[3].load(std::memory_order_acquire) == 1)
        assert(payload[3] == 1);
}

int main() {
    std::thread producer(produce), consumer(consume);
    producer.join();
    consumer.join();
    return 0;
}
