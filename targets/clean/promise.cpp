// Setting the value of a promise happens before get() of its future returns; a plain variable written before it is
// handed over too.

#include <future>
#include <thread>

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    int extra = 0;
    std::thread worker([&promise, &extra] {
        extra = 2;
        promise.set_value(40);
    });
    int value = future.get() + extra;
    worker.join();
    return value != 42;
}
