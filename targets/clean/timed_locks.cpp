// Locks with time-outs: std::timed_mutex, std::recursive_timed_mutex, std::shared_timed_mutex. A thread without the
// lock in time continues without it.

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

static std::timed_mutex timed;
static std::recursive_timed_mutex recursive;
static std::shared_timed_mutex shared;
static int first_value, second_value, third_value;

static void work() {
    if (timed.try_lock_for(1ms)) {
        first_value++;
        timed.unlock();
    }
    if (recursive.try_lock_until(std::chrono::steady_clock::now() + 1ms)) {
        std::lock_guard<std::recursive_timed_mutex> again(recursive);
        second_value++;
        recursive.unlock();
    }
    if (shared.try_lock_for(1ms)) {
        third_value++;
        shared.unlock();
    }
    std::shared_lock<std::shared_timed_mutex> reading(shared, 1ms);
    if (reading.owns_lock() && third_value > 2)
        std::this_thread::yield();
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    return first_value + second_value + third_value > 6;
}
