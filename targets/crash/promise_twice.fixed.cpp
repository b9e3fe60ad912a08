// Fixed twin of promise_twice.cpp: an exchange lets only one of them through.

#include <atomic>
#include <future>
#include <thread>

static std::promise<int> answer;
static std::atomic<bool> answered{false};

static void search(int from) {
    if (!answered.exchange(true)) {
        answer.set_value(from);
    }
}

int main() {
    std::future<int> result = answer.get_future();
    std::thread first(search, 1), second(search, 2);
    int found = result.get();
    first.join();
    second.join();
    return found == 0;
}
