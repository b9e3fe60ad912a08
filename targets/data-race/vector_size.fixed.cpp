// Fixed twin of vector_size.cpp: both hold the lock of the vector.

#include <mutex>
#include <thread>
#include <vector>

std::vector<int> log_lines;
static std::mutex lock;

static void append() {
    std::lock_guard<std::mutex> hold(lock);
    log_lines.push_back(1);
}

static void measure(std::size_t &size) {
    std::lock_guard<std::mutex> hold(lock);
    size = log_lines.size();
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
