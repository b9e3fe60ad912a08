// The first thread that finds something answers. Two threads can both see that there is no answer yet, and the second answer is
// an uncaught exception.
//
// preemptions: 1
//
// The twin is right because an exchange lets only one of them through.

#include <atomic>
#include <future>
#include <thread>

static std::promise<int> answer;
static std::atomic<bool> answered{false};

static void search(int from) {
    if (!answered) {
        answered = true;
        answer.set_value(from); //~ crash
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
