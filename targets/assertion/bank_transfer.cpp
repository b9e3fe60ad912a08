// A transfer takes the money from one account and puts it into the other one, each under its lock. Between the two
// an audit finds too little.
//
// preemptions: 1
//
// The twin is right because the transfer holds both locks, as the audit does.

#include <cassert>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance;
};

static Account giro{{}, 60}, savings{{}, 40};

static void transfer(int amount) {
    {
        std::lock_guard<std::mutex> hold(giro.lock);
        giro.balance -= amount;
    }
    std::lock_guard<std::mutex> hold(savings.lock);
    savings.balance += amount;
}

static void audit() {
    std::scoped_lock hold(giro.lock, savings.lock);
    assert(giro.balance + savings.balance == 100); //~ assertion
}

int main() {
    std::thread clerk(transfer, 25);
    std::thread auditor(audit);
    clerk.join();
    auditor.join();
    return 0;
}
