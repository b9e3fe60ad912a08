// A worker of std::jthread waits for work by a condition variable that knows nothing of the request to stop. If the
// request comes between its check and its wait, nothing wakes it, and the destructor of the thread waits for ever.
//
// cflags: -std=c++20
// preemptions: 2
//
// The twin is right because the wait takes the stop token, and ends with the request.

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any changed;
static int work;

static void serve(std::stop_token stop) {
    std::unique_lock<std::mutex> hold(lock);
    while (!stop.stop_requested() && work == 0)
        changed.wait(hold); //~ lost-wakeup
}

int main() {
    std::jthread server(serve);
    server.request_stop();
    changed.notify_all();
    server.join(); //~ lost-wakeup
    return 0;
}
