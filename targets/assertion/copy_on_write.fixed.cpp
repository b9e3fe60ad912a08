// Fixed twin of copy_on_write.cpp: the writer holds the lock under which copies are made.

#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Text {
    std::atomic<int> references{1};
    std::atomic<char> letter{'a'};
};

static Text text;
static std::mutex copying;

static void change() {
    std::lock_guard<std::mutex> hold(copying);
    if (text.references == 1)
        text.letter = 'b';
}

static void copy() {
    std::unique_lock<std::mutex> hold(copying);
    text.references++;
    hold.unlock();
    char before = text.letter;
    assert(text.letter == before);
    text.references--;
}

int main() {
    std::thread owner(change), other(copy);
    owner.join();
    other.join();
    return 0;
}
