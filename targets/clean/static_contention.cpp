// Three threads want the same static local variables, one of whose constructors throws the first time and another one
// uses a third variable.

#include <atomic>
#include <cassert>
#include <stdexcept>
#include <string>
#include <thread>

static std::atomic<int> attempts;

struct Shy {
    int value = 5;
    Shy() {
        if (attempts++ == 0)
            throw std::runtime_error("not yet");
    }
};

static const std::string &name() {
    static const std::string text(30, 'x');
    return text;
}

static const Shy &shy() {
    static const Shy object;
    return object;
}

static std::size_t both() {
    static const std::size_t size = name().size() + static_cast<std::size_t>(shy().value);
    return size;
}

static void use() {
    for (int i = 0; i < 2; i++) {
        try {
            assert(both() == 35);
            return;
        } catch (const std::runtime_error &) {
        }
    }
}

int main() {
    std::thread first(use), second(use);
    use();
    first.join();
    second.join();
    assert(attempts >= 2);
    return 0;
}
