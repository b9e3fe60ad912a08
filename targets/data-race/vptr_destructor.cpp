// The base class waits for its thread in its own destructor. By then the derived part is gone, and the virtual
// table pointer has been set back while the thread makes a virtual call with it.
//
// preemptions: 0
//
// The twin is right because the most derived destructor stops the thread before any part of the object is
// destroyed.

#include <pthread.h>

struct Service {
    pthread_t thread{};
    bool started = false;

    static void *loop(void *self) {
        static_cast<Service *>(self)->run(); //~ data-race
        return nullptr;
    }
    void start() { started = pthread_create(&thread, nullptr, loop, this) == 0; }
    void stop() {
        if (started)
            pthread_join(thread, nullptr);
        started = false;
    }
    virtual void run() {}
    virtual ~Service() { //~ data-race
        stop();
    }
};

struct Logger : Service {
    int lines = 0;
    void run() override { lines = 1; }
};

int main() {
    Logger logger;
    logger.start();
    return 0;
}
