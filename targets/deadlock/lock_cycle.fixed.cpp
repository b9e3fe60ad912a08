// Fixed twin of lock_cycle.cpp: `ship` takes its two locks by std::scoped_lock, which backs off instead of waiting
// while it holds one.

#include <mutex>
#include <thread>

static std::mutex stock, orders, invoices;
static int steps;

static void order() {
    std::lock_guard<std::mutex> outer(stock);
    std::lock_guard<std::mutex> inner(orders);
}

static void bill() {
    std::lock_guard<std::mutex> outer(orders);
    std::lock_guard<std::mutex> inner(invoices);
}

static void ship() {
    std::scoped_lock both(invoices, stock);
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
