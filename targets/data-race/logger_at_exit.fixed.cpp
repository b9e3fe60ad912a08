// Fixed twin of logger_at_exit.cpp: the logger is never destroyed.

#include <pthread.h>
#include <new>
#include <thread>

class Logger {
public:
    void log() {
        lines = lines + 1;
    }
    ~Logger() {
        lines = -1;
    }

private:
    int lines = 0;
};

static Logger &logger() {
    alignas(Logger) static char room[sizeof(Logger)];
    static Logger *only = new (room) Logger;
    return *only;
}

int main() {
    logger();
    std::thread([] { logger().log(); }).detach();
    return 0;
}
