// A string that copies when it is written: the holder of the only reference writes in place. The count is read,
// then the text is written; a copy that is made between the two sees the text change.
//
// preemptions: 2
//
// The twin is right because the writer holds the lock under which copies are made.

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
    if (text.references == 1)
        text.letter = 'b';
}

static void copy() {
    std::unique_lock<std::mutex> hold(copying);
    text.references++;
    hold.unlock();
    char before = text.letter;
    assert(text.letter == before); //~ assertion
    text.references--;
}

int main() {
    std::thread owner(change), other(copy);
    owner.join();
    other.join();
    return 0;
}
