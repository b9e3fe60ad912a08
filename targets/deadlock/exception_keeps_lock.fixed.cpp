// Fixed twin of exception_keeps_lock.cpp: a guard object unlocks on every way out.

#include <mutex>
#include <stdexcept>
#include <thread>

static int items;
static std::mutex lock;

static void take() {
    std::lock_guard<std::mutex> hold(lock);
    if (items == 0)
        throw std::runtime_error("nothing to take");
    items--;
}

static void consume() {
    try {
        take();
    } catch (const std::runtime_error &) {
        // Nothing there yet: the consumer goes without.
    }
}

int main() {
    std::thread consumer(consume);
    lock.lock();
    items = 1;
    lock.unlock();
    consumer.join();
    return items > 1;
}
