// Each owner of a shared_ptr reads the object; the last owner destroys it, ordered after all the reads by
// the reference count alone.

#include <atomic>
#include <memory>
#include <thread>

static std::atomic<int> reads{0};

struct Document {
    int pages = 12;
    ~Document() { pages = 0; }
};

static void print(std::shared_ptr<Document> document) {
    if (document->pages == 12)
        reads.fetch_add(1, std::memory_order_relaxed);
}

int main() {
    auto document = std::make_shared<Document>();
    std::thread first(print, document);
    std::thread second(print, document);
    document.reset();
    first.join();
    second.join();
    return reads != 2;
}
