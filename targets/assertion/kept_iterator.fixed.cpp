// Fixed twin of kept_iterator.cpp: the number is looked for and used in one critical section.

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
    assert(*found == 7);
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
