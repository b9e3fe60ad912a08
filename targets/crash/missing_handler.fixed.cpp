// Fixed twin of missing_handler.cpp: the handler that was found under the lock is the one that is called.

#include <mutex>
#include <thread>

using Handler = int (*)();

static int greet() { return 5; }

Handler handler = greet;
static std::mutex lock;

static Handler look_up() {
    std::lock_guard<std::mutex> hold(lock);
    return handler;
}

static void call(int &result) {
    Handler found = look_up();
    if (found == nullptr)
        return;
    result = found();
}

static void unregister() {
    std::lock_guard<std::mutex> hold(lock);
    handler = nullptr;
}

int main() {
    int result = 5;
    std::thread caller(call, std::ref(result));
    std::thread remover(unregister);
    caller.join();
    remover.join();
    return result != 5;
}
