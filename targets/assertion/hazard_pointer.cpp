// A hazard pointer that is announced too late. The reader takes the pointer, then announces that it uses it. Between
// the two the node can be replaced and given back: the one who gives it back has seen no announcement.
//
// preemptions: 1
//
// The twin is right because the reader checks the pointer again after the announcement, and starts anew if it has
// changed.

#include <atomic>
#include <cassert>
#include <thread>

// Nodes are not freed but marked, so that the mistake shows in the value.
struct Node {
    std::atomic<int> value;
};

static Node old_node{{1}}, new_node{{2}};
static std::atomic<Node *> current{&old_node};
static std::atomic<Node *> hazard{nullptr};

static void give_back(Node *node) {
    for (int i = 0; i < 100 && hazard.load() == node; i++)
        std::this_thread::yield();
    if (hazard.load() != node)
        node->value = -1;
}

static void replace() {
    give_back(current.exchange(&new_node));
}

static void read() {
    Node *node = current.load();
    hazard.store(node);
    assert(node->value > 0); //~ assertion
    hazard.store(nullptr);
}

int main() {
    std::thread reader(read), writer(replace);
    reader.join();
    writer.join();
    return 0;
}
