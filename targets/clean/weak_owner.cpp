// Weak pointers: two threads ask whether the object is still there, while its owner lets go of it.

#include <cassert>
#include <memory>
#include <thread>

struct Object : std::enable_shared_from_this<Object> {
    int value = 7;
    ~Object() { value = 0; }
};

static void ask(std::weak_ptr<Object> weak) {
    if (std::shared_ptr<Object> object = weak.lock()) {
        assert(object->value == 7);
        std::shared_ptr<Object> again = object->shared_from_this();
        assert(again.use_count() >= 2);
    }
    assert(weak.use_count() >= 0);
}

int main() {
    auto owner = std::make_shared<Object>();
    std::thread first(ask, std::weak_ptr<Object>(owner)), second(ask, std::weak_ptr<Object>(owner));
    owner.reset();
    first.join();
    second.join();
    return 0;
}
