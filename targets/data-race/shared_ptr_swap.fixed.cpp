// Fixed twin of shared_ptr_swap.cpp: both go through the atomic functions for shared pointers.

#include <memory>
#include <thread>

using Pointer = std::shared_ptr<const int>;

static const Pointer first = std::make_shared<int>(1), second = std::make_shared<int>(2);
Pointer current = first;

static void replace() {
    std::atomic_store(&current, second);
}

static void look(int *seen) {
    Pointer copy = std::atomic_load(&current);
    *seen = *copy;
}

int main() {
    int seen = 0;
    std::thread writer(replace), reader(look, &seen);
    writer.join();
    reader.join();
    return seen == 0;
}
