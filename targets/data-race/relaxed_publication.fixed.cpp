// Fixed twin of relaxed_publication.cpp: the store releases and the load acquires: a thread that sees the flag also sees
// the payload.

#include <atomic>
#include <thread>

int payload;
static std::atomic<bool> ready{false};

static void publish() {
    payload = 42;
    ready.store(true, std::memory_order_release);
}

static void consume(int &result) {
    if (ready.load(std::memory_order_acquire))
        result = payload;
}

int main() {
    int result = 0;
    std::thread producer(publish);
    std::thread consumer(consume, std::ref(result));
    producer.join();
    consumer.join();
    return result != 0 && result != 42;
}
