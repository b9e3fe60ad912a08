// Fixed twin of tls_destructor.cpp: the destructor holds a lock.

#include <mutex>
#include <thread>

int total;
static std::mutex lock;

struct Tally {
    int count = 0;
    ~Tally() {
        std::lock_guard<std::mutex> hold(lock);
        total = total + count;
    }
};

static thread_local Tally tally;

static void work() {
    tally.count = tally.count + 1;
}

int main() {
    std::thread first(work);
    std::thread second(work);
    first.join();
    second.join();
    return total > 2;
}
