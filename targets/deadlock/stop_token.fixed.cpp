// Fixed twin of stop_token.cpp: the wait takes the stop token, and ends with the request.
//
// cflags: -std=c++20

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
        changed.wait(hold, stop, [] { return work > 0; });
}

int main() {
    std::jthread server(serve);
    server.request_stop();
    changed.notify_all();
    server.join();
    return 0;
}
