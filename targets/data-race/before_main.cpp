// The constructor of a global object starts a thread, before main. Main sets what the thread reads, and nothing says
// that the thread has not got there yet.
//
// preemptions: 0
//
// The twin is right because the thread waits until main has set it.

#include <future>
#include <thread>

int level;
int seen;
static std::promise<void> configured;

struct Service {
    std::thread thread;
    Service() : thread(run) {}
    ~Service() { thread.join(); }
    static void run() {
        seen = level; //~ data-race
    }
};

static Service service;

int main() {
    level = 3; //~ data-race
    configured.set_value();
    return 0;
}
