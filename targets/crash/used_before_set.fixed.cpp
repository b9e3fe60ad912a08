// Fixed twin of used_before_set.cpp: the configuration is in place before the thread starts.

#include <atomic>
#include <thread>

struct Config {
    int size = 3;
};

Config defaults;
static std::atomic<Config *> config{nullptr};

static void work(int &size) {
    Config *seen = config;
    size = seen->size;
}

int main() {
    int size = 0;
    config = &defaults;
    std::thread worker(work, std::ref(size));
    worker.join();
    return size != 3;
}
