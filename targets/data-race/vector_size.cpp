// One thread appends to a vector while another asks for its size. The accesses are in the library's headers; the
// lines that matter are those of the program.
//
// preemptions: 0
//
// The twin is right because both hold the lock of the vector.

#include <mutex>
#include <thread>
#include <vector>

std::vector<int> log_lines;

static void append() {
    log_lines.push_back(1); //~ data-race
}

static void measure(std::size_t &size) {
    size = log_lines.size(); //~ data-race
}

int main() {
    std::size_t size = 0;
    log_lines.reserve(4);
    std::thread writer(append);
    std::thread reader(measure, std::ref(size));
    writer.join();
    reader.join();
    return size > 1;
}
