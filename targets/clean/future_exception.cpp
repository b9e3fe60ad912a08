// Exceptions go from one thread to another: through a future, through a promise, and as an exception pointer that two
// threads throw again.

#include <cassert>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

static bool throws(const std::exception_ptr &carried) {
    try {
        std::rethrow_exception(carried);
    } catch (const std::runtime_error &error) {
        return std::string("no") == error.what();
    }
}

int main() {
    std::promise<int> broken;
    std::future<int> future = broken.get_future();
    std::exception_ptr carried;
    std::thread thrower([&carried, promise = std::move(broken)]() mutable {
        try {
            throw std::runtime_error("no");
        } catch (...) {
            carried = std::current_exception();
            promise.set_exception(carried);
        }
    });
    bool caught = false;
    try {
        future.get();
    } catch (const std::runtime_error &) {
        caught = true;
    }
    thrower.join();
    std::thread other([&carried] { assert(throws(carried)); });
    assert(caught && throws(carried));
    other.join();
    return 0;
}
