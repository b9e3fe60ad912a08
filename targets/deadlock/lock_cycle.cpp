// No two threads disagree about the order of two locks, but the three of them together make a circle.
//
// preemptions: 1
//
// The twin is right because `ship` takes its two locks by std::scoped_lock, which backs off instead of waiting
// while it holds one.

#include <mutex>
#include <thread>

static std::mutex stock, orders, invoices;
static int steps;

static void order() {
    std::lock_guard<std::mutex> outer(stock);
    std::lock_guard<std::mutex> inner(orders); //~ deadlock
}

static void bill() {
    std::lock_guard<std::mutex> outer(orders);
    std::lock_guard<std::mutex> inner(invoices); //~ deadlock
}

static void ship() {
    std::lock_guard<std::mutex> outer(invoices);
    std::lock_guard<std::mutex> inner(stock); //~ deadlock
    steps++;
}

int main() {
    std::thread first(order);
    std::thread second(bill);
    ship();
    first.join();
    second.join();
    return steps != 1;
}
