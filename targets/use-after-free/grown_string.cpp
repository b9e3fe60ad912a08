// A thread keeps a pointer into a string. Another one makes the string longer, under the same lock, and the C++ library
// moves it.
//
// preemptions: 1
//
// The twin is right because the thread keeps a copy.

#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::string text(100, 'x');

static void append() {
    std::lock_guard<std::mutex> guard(lock);
    text.append(1000, 'y'); //~ use-after-free
}

static const char *begin() {
    std::lock_guard<std::mutex> guard(lock);
    return text.c_str();
}

static char first_of(const char *letters) {
    std::lock_guard<std::mutex> guard(lock);
    return letters[0]; //~ use-after-free
}

int main() {
    std::thread thread(append);
    const char *letters = begin();
    char letter = first_of(letters);
    thread.join();
    return letter == 'z';
}
