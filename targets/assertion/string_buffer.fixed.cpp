// Fixed twin of string_buffer.cpp: the lock of the other buffer is held over both steps.

#include <cassert>
#include <cstring>
#include <mutex>
#include <thread>

struct Buffer {
    std::recursive_mutex lock;
    char text[8] = "abc";
    std::size_t used = 3;

    std::size_t length() {
        std::lock_guard hold(lock);
        return used;
    }
    void copy_to(char *target, std::size_t count) {
        std::lock_guard hold(lock);
        assert(count <= used);
        std::memcpy(target, text, count);
    }
    void shorten() {
        std::lock_guard hold(lock);
        used = 1;
    }
};

static Buffer source;

static void append(char *target) {
    std::lock_guard hold(source.lock);
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
