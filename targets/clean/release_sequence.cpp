// A relaxed read-modify-write by a third thread continues the release sequence: who acquires its value is ordered
// after the first store all the same.

#include <atomic>
#include <thread>

int payload;
static std::atomic<int> stage{0};

static void publish() {
    payload = 42;
    stage.store(1, std::memory_order_release);
}

static void pass_on() {
    int expected = 1;
    stage.compare_exchange_strong(expected, 2, std::memory_order_relaxed);
}

static void consume(int &result) {
    if (stage.load(std::memory_order_acquire) == 2)
        result = payload;
}

int main() {
    int result = 42;
    std::thread first(publish), second(pass_on), third(consume, std::ref(result));
    first.join();
    second.join();
    third.join();
    return result != 42;
}
