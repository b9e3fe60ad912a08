// Futures of every kind: tasks that run at once, tasks that run when they are asked for, packaged tasks, promises,
// shared futures that two threads wait for.

#include <cassert>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

static int twice(const std::string &text) {
    return 2 * static_cast<int>(text.size());
}

int main() {
    auto now = std::async(std::launch::async, twice, "abc");
    auto later = std::async(std::launch::deferred, twice, "abcd");
    auto either = std::async(twice, "ab");
    std::packaged_task<int(const std::string &)> task(twice);
    std::future<int> packaged = task.get_future();
    std::thread runner(std::move(task), "a");
    std::promise<std::string> promise;
    std::shared_future<std::string> text = promise.get_future().share();
    std::thread reader([text] { assert(text.get() == "done"); });
    promise.set_value("done");
    assert(text.get() == "done" && now.get() == 6 && later.get() == 8 && either.get() == 4 && packaged.get() == 2);
    assert(later.valid() == false);
    runner.join();
    reader.join();
    return 0;
}
