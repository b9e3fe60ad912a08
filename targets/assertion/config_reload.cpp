// A configuration is replaced as a whole, by one atomic pointer. The reader follows the pointer twice, and can take the
// host from the old one and the port from the new one.
//
// preemptions: 1
//
// The twin is right because the reader takes the pointer once.

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
    int host = config.load()->host;
    int port = config.load()->port;
    assert(host == port); //~ assertion
}

int main() {
    std::thread user(connect), watcher(reload);
    user.join();
    watcher.join();
    return 0;
}
