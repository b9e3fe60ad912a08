// Thread-local objects that are made when they are first used and destroyed in the opposite order, one of which uses a
// lock in its destructor.

#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<std::string> collected;

struct Notes {
    std::vector<std::string> lines;
    ~Notes() {
        std::lock_guard<std::mutex> hold(lock);
        collected.insert(collected.end(), lines.begin(), lines.end());
    }
};

static thread_local Notes notes;
static thread_local std::string name = "unknown";

static void work(const char *called) {
    name = called;
    notes.lines.push_back(name + "!");
}

int main() {
    std::thread first(work, "first"), second(work, "second");
    first.join();
    second.join();
    assert(collected.size() == 2 && name == "unknown");
    return 0;
}
