// Double-checked locking with a plain pointer: the first check is made without the lock, so it races with the
// write under the lock, and a thread that takes the fast path may see an object that is not yet built.
//
// preemptions: 0
//
// The twin is right because the pointer is atomic: the fast path acquires what the builder released.

#include <atomic>
#include <mutex>
#include <thread>

struct Settings {
    int volume = 7; //~ also data-race
};

Settings *instance;
static std::mutex building;

static Settings *settings() {
    Settings *seen = instance; //~ data-race
    if (seen == nullptr) {
        std::lock_guard<std::mutex> hold(building);
        seen = instance;
        if (seen == nullptr) {
            seen = new Settings;
            instance = seen; //~ data-race
        }
    }
    return seen;
}

static void play(int &volume) {
    volume = settings()->volume; //~ also data-race
}

int main() {
    int left = 0, right = 0;
    std::thread first(play, std::ref(left));
    std::thread second(play, std::ref(right));
    first.join();
    second.join();
    delete instance;
    return left != 7 || right != 7;
}
