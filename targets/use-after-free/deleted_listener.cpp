// A listener is looked up under the lock and called outside it. Meanwhile it can be removed and deleted.
//
// preemptions: 0
//
// The twin is right because the caller keeps the listener alive by its own reference.

#include <memory>
#include <mutex>
#include <thread>

struct Listener {
    int calls = 0;
    void call() {
        calls++; //~ use-after-free
    }
};

static std::mutex lock;
static Listener *listener = new Listener;

static void withdraw() {
    Listener *removed;
    {
        std::lock_guard<std::mutex> guard(lock);
        removed = listener;
        listener = nullptr;
    }
    delete removed; //~ use-after-free
}

int main() {
    std::thread thread(withdraw);
    Listener *found;
    {
        std::lock_guard<std::mutex> guard(lock);
        found = listener;
    }
    if (found)
        found->call();
    thread.join();
    return 0;
}
