// A shared pointer is replaced while another thread copies it. The count that it points to is atomic, the pointer
// itself is not.
//
// preemptions: 0
//
// The twin is right because both go through the atomic functions for shared pointers.

#include <memory>
#include <thread>

using Pointer = std::shared_ptr<const int>;

static const Pointer first = std::make_shared<int>(1), second = std::make_shared<int>(2);
Pointer current = first;

static void replace() {
    current = second; //~ data-race
}

static void look(int *seen) {
    Pointer copy = current; //~ data-race
    *seen = *copy;
}

int main() {
    int seen = 0;
    std::thread writer(replace), reader(look, &seen);
    writer.join();
    reader.join();
    return seen == 0;
}
