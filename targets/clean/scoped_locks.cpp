// std::scoped_lock and std::lock take several locks in any order without a deadlock.

#include <cassert>
#include <mutex>
#include <thread>

static std::mutex left, right;
static std::recursive_mutex outer;
static int value;

static void forwards() {
    std::scoped_lock hold(left, right, outer);
    std::lock_guard<std::recursive_mutex> again(outer);
    value++;
}

static void backwards() {
    std::unique_lock<std::recursive_mutex> first(outer, std::defer_lock);
    std::unique_lock<std::mutex> second(right, std::defer_lock), third(left, std::defer_lock);
    std::lock(first, second, third);
    value++;
}

int main() {
    std::thread one(forwards), two(backwards);
    one.join();
    two.join();
    assert(value == 2);
    return 0;
}
