// Appending asks the other buffer for its length and then copies that many characters, in two calls that lock it
// each. In between the other buffer can be shortened.
//
// preemptions: 1
//
// The twin is right because the lock of the other buffer is held over both steps.

#include <cassert>
#include <cstring>
#include <mutex>
#include <thread>

struct Buffer {
    std::mutex lock;
    char text[8] = "abc";
    std::size_t used = 3;

    std::size_t length() {
        std::lock_guard hold(lock);
        return used;
    }
    void copy_to(char *target, std::size_t count) {
        std::lock_guard hold(lock);
        assert(count <= used); //~ assertion
        std::memcpy(target, text, count);
    }
    void shorten() {
        std::lock_guard hold(lock);
        used = 1;
    }
};

static Buffer source;

static void append(char *target) {
    std::size_t count = source.length();
    source.copy_to(target, count);
}

int main() {
    char target[8] = "";
    std::thread appender(append, target);
    std::thread shortener([] { source.shorten(); });
    appender.join();
    shortener.join();
    return target[0] != 'a';
}
