// The reference count of a shared_ptr is safe to use from two threads, the object that it points to is not.
//
// preemptions: 0
//
// The twin is right because a mutex guards the object.

#include <memory>
#include <mutex>
#include <thread>

struct Score {
    int points = 0;
};

static void add(std::shared_ptr<Score> score) {
    score->points = 3; //~ data-race
}

static void show(std::shared_ptr<Score> score, int &shown) {
    shown = score->points; //~ data-race
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
