// Fixed twin of bank_transfer.cpp: the transfer holds both locks, as the audit does.

#include <cassert>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance;
};

static Account giro{{}, 60}, savings{{}, 40};

static void transfer(int amount) {
    std::scoped_lock hold(giro.lock, savings.lock);
    giro.balance -= amount;
    savings.balance += amount;
}

static void audit() {
    std::scoped_lock hold(giro.lock, savings.lock);
    assert(giro.balance + savings.balance == 100);
}

int main() {
    std::thread clerk(transfer, 25);
    std::thread auditor(audit);
    clerk.join();
    auditor.join();
    return 0;
}
