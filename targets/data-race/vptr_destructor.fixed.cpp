// Fixed twin of vptr_destructor.cpp: the most derived destructor stops the thread before any part of the object is
// destroyed.

#include <pthread.h>

struct Service {
    pthread_t thread{};
    bool started = false;

    static void *loop(void *self) {
        static_cast<Service *>(self)->run();
        return nullptr;
    }
    void start() { started = pthread_create(&thread, nullptr, loop, this) == 0; }
    void stop() {
        if (started)
            pthread_join(thread, nullptr);
        started = false;
    }
    virtual void run() {}
    virtual ~Service() {
        stop();
    }
};

struct Logger : Service {
    int lines = 0;
    void run() override { lines = 1; }
    ~Logger() override { stop(); }
};

int main() {
    Logger logger;
    logger.start();
    return 0;
}
