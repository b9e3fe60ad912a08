// A coroutine moves to another thread in the middle, by an awaiter that resumes it there.
//
// cflags: -std=c++20

#include <cassert>
#include <coroutine>
#include <thread>

struct Job {
    struct promise_type {
        Job get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

static std::thread other;

struct MoveAway {
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
        other = std::thread([handle] { handle.resume(); });
    }
    void await_resume() {}
};

static Job work(int &result) {
    int value = 1;
    std::thread::id before = std::this_thread::get_id();
    co_await MoveAway{};
    assert(std::this_thread::get_id() != before);
    value++;
    result = value;
}

int main() {
    int result = 0;
    work(result);
    other.join();
    assert(result == 2);
    return 0;
}
