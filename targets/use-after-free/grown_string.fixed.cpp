// Fixed twin of grown_string.cpp: the thread keeps a copy.

#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::string text(100, 'x');

static void append() {
    std::lock_guard<std::mutex> guard(lock);
    text.append(1000, 'y');
}

static std::string begin() {
    std::lock_guard<std::mutex> guard(lock);
    return text;
}

static char first_of(const std::string &letters) {
    std::lock_guard<std::mutex> guard(lock);
    return letters[0];
}

int main() {
    std::thread thread(append);
    const std::string letters = begin();
    char letter = first_of(letters);
    thread.join();
    return letter == 'z';
}
