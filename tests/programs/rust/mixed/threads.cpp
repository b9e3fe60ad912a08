// Calls Rust back, from threads of its own.
#include <thread>

extern "C" void in_two_threads(void (*call)(void *), void *data) {
    std::thread first(call, data), second(call, data);
    first.join();
    second.join();
}
