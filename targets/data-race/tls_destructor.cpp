// Each thread counts for itself, and the destructor of the thread-local counter adds to the total when the thread
// ends, without a lock. Thread-local destructors of two threads can run at the same time.
//
// preemptions: 0
//
// The twin is right because the destructor holds a lock.

#include <mutex>
#include <thread>

int total;

struct Tally {
    int count = 0;
    ~Tally() {
        total = total + count; //~ data-race
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
