// A global object starts a thread in its constructor, before main, and waits for it in its destructor, after main.

#include <condition_variable>
#include <mutex>
#include <thread>

class Background {
public:
    Background() : thread([this] { run(); }) {}
    ~Background() {
        {
            std::lock_guard<std::mutex> hold(lock);
            stopping = true;
        }
        changed.notify_all();
        thread.join();
    }
    void wait_until_ready() {
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [this] { return ready; });
    }

private:
    void run() {
        std::unique_lock<std::mutex> hold(lock);
        ready = true;
        changed.notify_all();
        changed.wait(hold, [this] { return stopping; });
    }

    std::mutex lock;
    std::condition_variable changed;
    bool ready = false, stopping = false;
    std::thread thread; // last, so that all the rest is built when it starts
};

static Background background;

int main() {
    background.wait_until_ready();
    return 0;
}
