// Fixed twin of head_taken_twice.cpp: the head is read and removed at once.

#include <mutex>
#include <thread>

struct Item {
    Item *next;
};

static std::mutex lock;
static Item *head = new Item{new Item{nullptr}};

static Item *take() {
    std::lock_guard<std::mutex> guard(lock);
    Item *item = head;
    if (item)
        head = item->next;
    return item;
}

static void empty() {
    Item *item = take();
    delete item;
}

int main() {
    std::thread thread(empty);
    empty();
    thread.join();
    return 0;
}
