// A timed wait with a predicate: whether the event or the time-out comes first, the answer is right.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

static bool happened;
static std::mutex lock;
static std::condition_variable changed;

static void happen() {
    std::lock_guard<std::mutex> hold(lock);
    happened = true;
    changed.notify_one();
}

int main() {
    std::thread worker(happen);
    bool seen, present;
    {
        std::unique_lock<std::mutex> hold(lock);
        seen = changed.wait_for(hold, std::chrono::milliseconds(20), [] { return happened; });
        present = happened;
    }
    worker.join();
    return seen != present;
}
