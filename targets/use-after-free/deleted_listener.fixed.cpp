// Fixed twin of deleted_listener.cpp: the caller keeps the listener alive by its own reference.

#include <memory>
#include <mutex>
#include <thread>

struct Listener {
    int calls = 0;
    void call() {
        calls++;
    }
};

static std::mutex lock;
static std::shared_ptr<Listener> listener = std::make_shared<Listener>();

static void withdraw() {
    std::shared_ptr<Listener> removed;
    {
        std::lock_guard<std::mutex> guard(lock);
        removed = listener;
        listener = nullptr;
    }
}

int main() {
    std::thread thread(withdraw);
    std::shared_ptr<Listener> found;
    {
        std::lock_guard<std::mutex> guard(lock);
        found = listener;
    }
    if (found)
        found->call();
    thread.join();
    return 0;
}
