// An exception leaves the function between lock and unlock. It is caught and handled, but the lock stays taken,
// and main waits for it.
//
// preemptions: 1
//
// The twin is right because a guard object unlocks on every way out.

#include <mutex>
#include <stdexcept>
#include <thread>

static int items;
static std::mutex lock;

static void take() {
    lock.lock(); //~ also misuse
    if (items == 0)
        throw std::runtime_error("nothing to take");
    items--;
    lock.unlock();
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
    lock.lock(); //~ deadlock
    items = 1;
    lock.unlock();
    consumer.join();
    return items > 1;
}
