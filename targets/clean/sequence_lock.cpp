// A sequence lock whose data are atomic: a reader that saw the same even number before and after has seen one
// version. Tries are bounded.

#include <atomic>
#include <thread>

static std::atomic<unsigned> sequence{0};
static std::atomic<int> low{0}, high{0};

static void write_pair() {
    sequence.store(1);
    low.store(7);
    high.store(7);
    sequence.store(2);
}

static void read_pair(bool &torn) {
    for (int tries = 0; tries < 4; tries++) {
        unsigned before = sequence.load();
        int seen_low = low.load(), seen_high = high.load();
        if (before % 2 == 0 && sequence.load() == before) {
            torn = seen_low != seen_high;
            return;
        }
        std::this_thread::yield();
    }
}

int main() {
    bool torn = false;
    std::thread writer(write_pair);
    std::thread reader(read_pair, std::ref(torn));
    writer.join();
    reader.join();
    return torn;
}
