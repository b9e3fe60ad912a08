// Fixed twin of sequence_lock.cpp: the reader tries again when the number has changed.

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<unsigned> sequence;
static std::atomic<int> left, right;

static void change() {
    sequence++;
    left.store(1);
    right.store(1);
    sequence++;
}

static void look() {
    int first, second;
    unsigned before;
    do {
        while ((before = sequence.load()) % 2 == 1)
            std::this_thread::yield();
        first = left.load();
        second = right.load();
    } while (sequence.load() != before);
    assert(first == second);
}

int main() {
    std::thread writer(change), reader(look);
    writer.join();
    reader.join();
    return 0;
}
