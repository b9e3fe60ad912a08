// Fixed twin of coroutine_handoff.cpp: main reads when the thread has ended.
//
// cflags: -std=c++20

#include <coroutine>
#include <thread>

struct Counter {
    struct promise_type {
        int value = 0;
        Counter get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

static Counter count() {
    for (int i = 1; i <= 2; i++)
        co_yield i;
}

int main() {
    Counter counter = count();
    counter.handle.resume();
    std::thread other([&] { counter.handle.resume(); });
    other.join();
    int seen = counter.handle.promise().value;
    counter.handle.destroy();
    return seen > 2;
}
