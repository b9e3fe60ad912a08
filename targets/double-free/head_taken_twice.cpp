// Two threads empty a list. The head is read in one critical section and removed in the next one.
//
// preemptions: 1
//
// The twin is right because it is read and removed at once.

#include <mutex>
#include <thread>

struct Item {
    Item *next;
};

static std::mutex lock;
static Item *head = new Item{new Item{nullptr}};

static Item *first() {
    std::lock_guard<std::mutex> guard(lock);
    return head;
}

static Item *take() {
    Item *item = first();
    if (item) {
        std::lock_guard<std::mutex> guard(lock);
        if (head == item)
            head = item->next;
    }
    return item;
}

static void empty() {
    Item *item = take();
    delete item; //~ double-free
}

int main() {
    std::thread thread(empty);
    empty();
    thread.join();
    return 0;
}
