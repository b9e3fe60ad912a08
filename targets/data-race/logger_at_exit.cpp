// A logger lives in a static variable, so it is destroyed when main has returned. A detached thread may still be
// writing to it.
//
// preemptions: 1
//
// The twin is right because the logger is never destroyed.

#include <pthread.h>
#include <thread>

class Logger {
public:
    void log() {
        lines = lines + 1; //~ data-race
    }
    ~Logger() {
        lines = -1; //~ data-race
    }

private:
    int lines = 0;
};

static Logger &logger() {
    static Logger only;
    return only;
}

int main() {
    logger();
    std::thread([] { logger().log(); }).detach();
    return 0;
}
