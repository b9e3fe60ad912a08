// The reader of a sequence lock waits until no writer is inside, but does not check the number again after it has
// read. A writer who comes meanwhile leaves it with half of the old and half of the new.
//
// preemptions: 1
//
// The twin is right because the reader tries again when the number has changed.

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
    } while (before % 2 == 1);
    assert(first == second); //~ assertion
}

int main() {
    std::thread writer(change), reader(look);
    writer.join();
    reader.join();
    return 0;
}
