// Fixed twin of before_main.cpp: the thread waits until main has set it.

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
        configured.get_future().wait();
        seen = level;
    }
};

static Service service;

int main() {
    level = 3;
    configured.set_value();
    return 0;
}
