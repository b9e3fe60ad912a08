// Fixed twin of double_checked_locking.cpp: the pointer is atomic: the fast path acquires what the builder
// released.

#include <atomic>
#include <mutex>
#include <thread>

struct Settings {
    int volume = 7;
};

static std::atomic<Settings *> instance;
static std::mutex building;

static Settings *settings() {
    Settings *seen = instance;
    if (seen == nullptr) {
        std::lock_guard<std::mutex> hold(building);
        seen = instance;
        if (seen == nullptr) {
            seen = new Settings;
            instance = seen;
        }
    }
    return seen;
}

static void play(int &volume) {
    volume = settings()->volume;
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
