// The thread is started before the configuration that it uses is in place.
//
// preemptions: 1
//
// The twin is right because the configuration is in place before the thread starts.

#include <atomic>
#include <thread>

struct Config {
    int size = 3;
};

Config defaults;
static std::atomic<Config *> config{nullptr};

static void work(int &size) {
    Config *seen = config;
    size = seen->size; //~ crash
}

int main() {
    int size = 0;
    std::thread worker(work, std::ref(size));
    config = &defaults;
    worker.join();
    return size != 3;
}
