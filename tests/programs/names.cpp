// A ring of names without a lock: `pop` gives a slot back before it has read it.
#include <atomic>
#include <array>
#include <cassert>
#include <string>
#include <thread>
template <typename T, std::size_t N> class Ring {
  public:
    bool push(T value) {
        auto tail = tail_.load();
        if (tail - head_.load() == N) return false;
        slots_[tail % N] = std::move(value);
        tail_.store(tail + 1);
        return true;
    }
    bool pop(T &out) {
        auto head = head_.load();
        if (head == tail_.load()) return false;
        head_.store(head + 1);
        out = std::move(slots_[head % N]);
        return true;
    }
  private:
    std::array<T, N> slots_{};
    std::atomic<std::size_t> head_{0}, tail_{0};
};
static Ring<std::string, 2> names;
int main() {
    std::thread writer([] { for (int i = 0; i < 3; i++) while (!names.push("name " + std::to_string(i))) std::this_thread::yield(); });
    std::string name;
    for (int i = 0; i < 3; i++) {
        while (!names.pop(name)) std::this_thread::yield();
        assert(name == "name " + std::to_string(i));
    }
    writer.join();
}
