// Fixed twin of shared_ptr_pointee.cpp: a mutex guards the object.

#include <memory>
#include <mutex>
#include <thread>

struct Score {
    int points = 0;
    std::mutex lock;
};

static void add(std::shared_ptr<Score> score) {
    std::lock_guard<std::mutex> hold(score->lock);
    score->points = 3;
}

static void show(std::shared_ptr<Score> score, int &shown) {
    std::lock_guard<std::mutex> hold(score->lock);
    shown = score->points;
}

int main() {
    auto score = std::make_shared<Score>();
    int shown = 0;
    std::thread writer(add, score);
    std::thread reader(show, score, std::ref(shown));
    writer.join();
    reader.join();
    return shown != 0 && shown != 3;
}
