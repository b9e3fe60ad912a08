// A cache that forgets what was used longest ago. `get` moves what it finds to the front after it has let go of the lock: another thread may
// have evicted it by then.
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

template <typename Key, typename Value> class Cache {
  public:
    explicit Cache(std::size_t limit) : limit_(limit) {}

    void put(const Key &key, Value value) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (entries_.size() >= limit_) {
            Entry *oldest = order_.back();
            order_.pop_back();
            entries_.erase(oldest->key);
        }
        auto entry = std::make_unique<Entry>(Entry{key, std::move(value), 0});
        order_.push_front(entry.get());
        entries_[key] = std::move(entry);
    }

    Value get(const Key &key) {
        Entry *entry = find(key);
        if (!entry)
            return Value();
        entry->hits++;
        return entry->value;
    }

  private:
    struct Entry {
        Key key;
        Value value;
        int hits;
    };

    Entry *find(const Key &key) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto found = entries_.find(key);
        return found == entries_.end() ? nullptr : found->second.get();
    }

    const std::size_t limit_;
    std::mutex mutex_;
    std::unordered_map<Key, std::unique_ptr<Entry>> entries_;
    std::list<Entry *> order_;
};

int main() {
    Cache<int, long> cache(1);
    cache.put(1, 10);
    std::thread reader([&] { cache.get(1); });
    cache.put(2, 20);
    reader.join();
    return 0;
}
