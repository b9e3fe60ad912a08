// The atomic functions for shared pointers: one thread replaces, one reads, one exchanges. The last owner destroys.

#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

using Pointer = std::shared_ptr<const int>;

static Pointer current = std::make_shared<int>(1);

int main() {
    std::thread writer([] { std::atomic_store(&current, Pointer(std::make_shared<int>(2))); });
    std::thread reader([] {
        Pointer copy = std::atomic_load(&current);
        assert(*copy > 0);
    });
    Pointer before = std::atomic_exchange(&current, Pointer(std::make_shared<int>(3)));
    assert(*before == 1 || *before == 2);
    writer.join();
    reader.join();
    return 0;
}
