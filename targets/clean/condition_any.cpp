// std::condition_variable_any with a shared mutex and with a recursive one.

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex shared;
static std::recursive_mutex recursive;
static std::condition_variable_any changed, counted;
static bool ready;
static int count;

static void wait_for_it() {
    {
        std::shared_lock<std::shared_mutex> hold(shared);
        changed.wait(hold, [] { return ready; });
    }
    std::unique_lock<std::recursive_mutex> hold(recursive);
    count++;
    counted.notify_one();
}

int main() {
    std::thread first(wait_for_it), second(wait_for_it);
    {
        std::unique_lock<std::shared_mutex> hold(shared);
        ready = true;
    }
    changed.notify_all();
    {
        std::unique_lock<std::recursive_mutex> hold(recursive);
        counted.wait(hold, [] { return count == 2; });
    }
    first.join();
    second.join();
    return 0;
}
