// A thread looks for a number and keeps the iterator, under the lock; another one erases a number in front of it, under
// the lock. The iterator then stands at another number.
//
// preemptions: 1
//
// The twin is right because the number is looked for and used in one critical section.

#include <algorithm>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

static std::vector<int> numbers{3, 5, 7, 9};
static std::mutex lock;

static void use_seven() {
    std::unique_lock<std::mutex> hold(lock);
    auto found = std::find(numbers.begin(), numbers.end(), 7);
    hold.unlock();
    hold.lock();
    assert(*found == 7); //~ assertion
}

static void drop_first() {
    std::unique_lock<std::mutex> hold(lock);
    numbers.erase(numbers.begin());
}

int main() {
    std::thread user(use_seven), dropper(drop_first);
    user.join();
    dropper.join();
    return 0;
}
