// A value is published by an atomic flag with relaxed order. The flag itself is fine, but a relaxed store does not
// carry what was written before it, so the payload is not ordered.
//
// preemptions: 0
//
// The twin is right because the store releases and the load acquires: a thread that sees the flag also sees the payload.

#include <atomic>
#include <thread>

int payload;
static std::atomic<bool> ready{false};

static void publish() {
    payload = 42; //~ data-race
    ready.store(true, std::memory_order_relaxed);
}

static void consume(int &result) {
    if (ready.load(std::memory_order_relaxed))
        result = payload; //~ data-race
}

int main() {
    int result = 0;
    std::thread producer(publish);
    std::thread consumer(consume, std::ref(result));
    producer.join();
    consumer.join();
    return result != 0 && result != 42;
}
