// Hazard pointers as they should be: announced, checked again, and freed only by threads that see no announcement.
// The old node really is freed.

#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    int value;
};

static std::atomic<Node *> current{new Node{1}};
static std::atomic<Node *> hazards[2];

static void read(int slot) {
    Node *node = current.load();
    for (;;) {
        hazards[slot].store(node);
        Node *again = current.load();
        if (again == node)
            break;
        node = again;
    }
    assert(node->value > 0);
    hazards[slot].store(nullptr);
}

static void replace() {
    Node *old = current.exchange(new Node{2});
    for (std::atomic<Node *> &hazard : hazards)
        while (hazard.load() == old)
            std::this_thread::yield();
    delete old;
}

int main() {
    std::thread first(read, 0), second(read, 1), writer(replace);
    first.join();
    second.join();
    writer.join();
    delete current.load();
    return 0;
}
