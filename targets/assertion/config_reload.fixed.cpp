// Fixed twin of config_reload.cpp: the reader takes the pointer once.

#include <atomic>
#include <cassert>
#include <thread>

struct Config {
    int host, port;
};

static const Config before{1, 1}, after{2, 2};
static std::atomic<const Config *> config{&before};

static void reload() {
    config.store(&after);
}

static void connect() {
    const Config *taken = config.load();
    int host = taken->host;
    int port = taken->port;
    assert(host == port);
}

int main() {
    std::thread user(connect), watcher(reload);
    user.join();
    watcher.join();
    return 0;
}
